"""Template filters of this app."""
