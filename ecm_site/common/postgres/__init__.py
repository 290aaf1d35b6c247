"""Django's backend for PostgreSQL, with a cheaper look at a connection before it is used again."""
