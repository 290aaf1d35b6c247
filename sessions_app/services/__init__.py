"""The only code that writes. A module is a noun, its functions are verbs."""
