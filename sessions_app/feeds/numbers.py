"""Numbers as hosts write them: what counts as a token count, and money without a float's error."""

import math
import re
from decimal import Decimal
from typing import Any

from sessions_app.feeds.base import Refused

#: The largest count that is taken; also the largest that the database holds.
LARGEST = (1 << 63) - 1
_DIGITS = re.compile(r"[0-9]{1,40}")
_AMOUNT = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
#: No call and no session costs a billion dollars; more is a fault of the source.
LARGEST_USD = 10**9


def token_count(value: Any, pointer: str) -> int | None:
    """A count of tokens: integers, integral floats and plain digits from 0 to 2^63-1; None where absent.

    Refused, with the pointer: `not_an_integer` (also booleans, fractions, separators), `negative`, `too_large`.
    """
    if type(value) is int and 0 <= value <= LARGEST:
        return value
    if value is None:
        return None
    if _is_whole(value):
        value = int(value)
    elif type(value) is not int:
        raise Refused("not_an_integer", pointer, "expected a whole number")
    if value < 0:
        raise Refused("negative", pointer, "a count cannot be negative")
    if value > LARGEST:
        raise Refused("too_large", pointer, "a count cannot be larger than 2^63 - 1")
    return int(value)


def _is_whole(value: Any) -> bool:
    if type(value) is float:
        return math.isfinite(value) and value.is_integer()
    return type(value) is str and _DIGITS.fullmatch(value) is not None


def nanodollars(value: Any, pointer: str) -> int | None:
    """Dollars in integer nano-dollars, half to even; a float counts as its shortest decimal form.

    Refused: `not_a_number`, `negative`, `too_large`.
    """
    if value is None:
        return None
    text = str(value)
    if isinstance(value, bool) or not _AMOUNT.fullmatch(text.removeprefix("-")):
        raise Refused("not_a_number", pointer, "expected an amount in dollars")
    amount = Decimal(text)
    if amount < 0:
        raise Refused("negative", pointer, "an amount cannot be negative")
    if amount > LARGEST_USD:
        raise Refused("too_large", pointer, "an amount cannot be larger than a billion dollars")
    return int(amount.scaleb(9).to_integral_value())
