"""Exact money: decimals whose sums and products are never rounded."""

from collections.abc import Iterable
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from functools import reduce

#: Wide enough for 63-bit counts times 16-digit prices times a multiplier; a rounded sum would raise.
EXACT = Context(prec=96, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])


def total(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The exact sum of what is known; None when nothing is."""
    known = [amount for amount in amounts if amount is not None]
    return reduce(EXACT.add, known) if known else None
