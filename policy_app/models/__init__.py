"""One file per kind of row, each with its constraints."""
