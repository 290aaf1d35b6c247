"""The REST interface: ingest for machines, figures for scripts."""
