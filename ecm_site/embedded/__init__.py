"""What `make up` and the tests start on one machine: PostgreSQL, Redis, web, worker, beat.

Plain Python without Django: it runs before the settings can be read.
"""
