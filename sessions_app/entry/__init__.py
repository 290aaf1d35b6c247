"""The way in: the link from the terminal, login and logout."""
