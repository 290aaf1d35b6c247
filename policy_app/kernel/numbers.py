"""Exact numbers: decimals as written, fractions to compare with; a binary float is never compared."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from policy_app.kernel.errors import NotANumber, OutOfRange, WrongType

#: Decimal places and digits before the point that a table may use.
MOST_PLACES = 9
MOST_DIGITS = 15
_FRACTION = re.compile(r"([0-9]{1,40})/(0*[1-9][0-9]{0,38})")
_WRITTEN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")


def decimal_of(field: str, raw: object) -> Decimal:
    """The number as a normalised decimal; a float counts as the shortest text that gives it.

    Raises `NotANumber` (NaN, infinities, other text), `OutOfRange` (too many digits), `WrongType`.
    """
    number = _finite(field, raw)
    if number.is_zero():
        return Decimal(0)
    if len(number.as_tuple().digits) > MOST_DIGITS + MOST_PLACES:
        raise OutOfRange(field, raw, f"must have at most {MOST_DIGITS} digits")
    number = number.normalize()
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MOST_PLACES:
        raise OutOfRange(field, raw, f"must have at most {MOST_PLACES} decimal places")
    return number


def measured_of(field: str, raw: object) -> Fraction:
    """A measured number, of any precision, as a fraction; text may be a decimal or `n/d`."""
    if isinstance(raw, Fraction):
        return raw
    if isinstance(raw, str) and len(raw) <= 80 and (written := _FRACTION.fullmatch(raw)):
        return Fraction(int(written[1]), int(written[2]))
    return Fraction(_finite(field, raw))


def _finite(field: str, raw: object) -> Decimal:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal):
        raise WrongType(field, raw, "must be a number")
    if isinstance(raw, float) and not math.isfinite(raw):
        raise NotANumber(field, raw, "must be a finite number")
    if isinstance(raw, str) and not (len(raw) <= 80 and _WRITTEN.fullmatch(raw)):
        raise NotANumber(field, raw, "must be a decimal number")
    if isinstance(raw, int) and abs(raw) >= 10**MOST_DIGITS:
        raise OutOfRange(field, "an integer of many digits", f"must have at most {MOST_DIGITS} digits")
    number = Decimal(str(raw) if isinstance(raw, float) else raw)
    if not number.is_finite():
        raise NotANumber(field, raw, "must be a finite number")
    if number and not -30 <= number.adjusted() < MOST_DIGITS:
        raise OutOfRange(field, raw, f"must have at most {MOST_DIGITS} digits")
    return number


def whole_of(field: str, raw: object, *, low: int = 0, high: int | None = None) -> int:
    """The number as an integer within `low` and `high`, both included."""
    number = decimal_of(field, raw)
    if number != number.to_integral_value():
        raise WrongType(field, raw, "must be a whole number")
    if number < low or (high is not None and number > high):
        span = f"must be at least {low}" if high is None else f"must be from {low} to {high}"
        raise OutOfRange(field, raw, span)
    return int(number)


@lru_cache(maxsize=4096)
def exact(number: Decimal) -> Fraction:
    """The same number as a fraction of integers."""
    return Fraction(number)


def plain(number: Decimal | int) -> str:
    """The one way in which a number is written: no exponent, no trailing zeros."""
    if isinstance(number, int):
        return str(number)
    return "0" if number.is_zero() else format(number.normalize(), "f")


def percent(share: Decimal | Fraction) -> str:
    """A share as percent, cut (never rounded up) after one place: 0.749999 is 74.9%, below its line."""
    tenths = int(Fraction(share) * 1000)
    whole, tenth = divmod(abs(tenths), 10)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{whole}.{tenth}%" if tenth else f"{sign}{whole}%"
