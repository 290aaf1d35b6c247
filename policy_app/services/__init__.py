"""The only code that writes policies: each act is one transaction with its audit entry."""
