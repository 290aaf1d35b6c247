"""What happened: sessions, calls, compactions, costs."""
