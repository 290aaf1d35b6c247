"""Feeds: one module per wire format, from native bytes to readings or a named refusal. Pure."""
