"""Pure rules of what happened: no Django, no clock, no I/O."""
