"""How figures are written: exact values in, short text out. Pure; nothing here guesses.

Money is `Decimal` USD, tokens are integers, shares are integer ratios. Percentages are cut towards
zero, so that a label never names a zone which the value has not reached.
"""

from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal

NONE = "?"
_CENT = Decimal("0.01")
_SMALLEST = Decimal("0.0001")
_STEPS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def usd(amount: Decimal | None) -> str:
    """Dollars for reading: two decimals from a cent on, four below; a minus in front of the sign."""
    if amount is None:
        return NONE
    size = abs(amount)
    if size == 0:
        return "$0.00"
    if size < _SMALLEST:
        return "under $0.0001"
    step = _CENT if size >= _CENT else _SMALLEST
    return f"{'−' if amount < 0 else ''}${size.quantize(step, rounding=ROUND_HALF_UP):,f}"


def usd_ledger(amount: Decimal | None) -> str:
    """Dollars for adding up: six decimals."""
    if amount is None:
        return NONE
    return f"{'−' if amount < 0 else ''}${abs(amount).quantize(Decimal('0.000001'), rounding=ROUND_HALF_UP):,f}"


def usd_exact(amount: Decimal | None) -> str:
    """All digits that are known, without trailing zeros, as a plain decimal for machines."""
    if amount is None:
        return ""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def tokens(count: int | None) -> str:
    """All digits, grouped by thousands."""
    return NONE if count is None else f"{count:,}"


def tokens_short(count: int | None) -> str:
    """Tokens for a narrow place: 153,604 is 153k, 1,000,000 is 1M; cut towards zero."""
    if count is None:
        return NONE
    if count < 1_000:
        return str(count)
    unit, name = (1_000_000, "M") if count >= 1_000_000 else (1_000, "k")
    whole, tenth = count // unit, count % unit * 10 // unit
    return f"{whole}.{tenth}{name}" if whole < 10 and tenth else f"{whole}{name}"


def percent(part: int | None, whole: int | None) -> str:
    """A share with one decimal, cut towards zero: 149,995 of 200,000 is 74.9%."""
    if part is None or not whole:
        return NONE
    share = part * 1_000 // whole
    if share == 0 < part:
        return "under 0.1%"
    return f"{share // 10}.{share % 10}%"


def percent_whole(part: int | None, whole: int | None) -> str:
    """A share in whole percent, cut towards zero; what is there but small is "under 1%"."""
    if part is None or not whole:
        return NONE
    share = part * 100 // whole
    return "under 1%" if share == 0 < part else f"{share}%"


def times(count: int) -> str:
    """How often, in words while they are short."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: 1 call, 2 calls."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def duration(seconds: float | None) -> str:
    """A length of time by its two largest units: 41 min 3 s."""
    if seconds is None:
        return NONE
    if seconds < 1:
        return f"{max(seconds, 0):.1f} s"
    left = int(seconds)
    parts: list[str] = []
    for name, size in _STEPS:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {name}")
            left %= size
        elif parts:
            break
    return " ".join(parts)


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago by the largest unit; a moment ahead of the clock is "just now"."""
    if moment is None:
        return NONE
    seconds = int((now - moment).total_seconds())
    if seconds < 1:
        return "just now"
    name, size = next((name, size) for name, size in _STEPS if seconds >= size)
    return f"{seconds // size} {name} ago"


def moment(at: datetime | None, now: datetime) -> str:
    """Date and time (UTC): the year only where it is another one, the date only where it is not today."""
    if at is None:
        return NONE
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return f"{day(at.date(), now.date())} {at:%H:%M}"


def day(on: date, today: date) -> str:
    """A day: 30 Nov, with its year where it is not this one."""
    return f"{on.day} {on:%b}" if on.year == today.year else f"{on.day} {on:%b} {on.year}"
