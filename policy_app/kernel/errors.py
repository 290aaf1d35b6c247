"""Refusals of the kernel: each has a code, and names the field and the value that were refused."""

from typing import ClassVar


class Refused(ValueError):
    """Something that no table, condition or signal may be; `field` is a dotted path."""

    code: ClassVar[str] = "refused"

    def __init__(self, field: str, value: object, why: str) -> None:
        self.field = field
        self.value = value
        self.why = why
        super().__init__(f"{field}: {why}, not {_shown(value)}")


class NotANumber(Refused):
    """NaN, infinity, or text that is no decimal number."""

    code = "not_a_number"


class OutOfRange(Refused):
    """A number outside of what its field or signal can be."""

    code = "out_of_range"


class WrongType(Refused):
    """A value of another type than its field has."""

    code = "wrong_type"


class BadText(Refused):
    """Text that is too long, empty, or holds characters that cannot be kept."""

    code = "bad_text"


class UnknownName(Refused):
    """A signal, operation, option, limit or field that does not exist."""

    code = "unknown_name"


class EmptyCondition(Refused):
    """A condition that no value meets."""

    code = "empty_condition"


class Duplicate(Refused):
    """Something that may be there once is there twice."""

    code = "duplicate"


class WrongOrder(Refused):
    """Zone lines that do not rise."""

    code = "wrong_order"


class LimitMismatch(Refused):
    """A bound that refers to a limit and holds another number."""

    code = "limit_mismatch"


class TooLarge(Refused):
    """More than a table, a file or a value may hold."""

    code = "too_large"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
