"""Pages of a list by keyset: {"results": [...], "next": address or null}; a late insert moves nothing."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest

from ecm_site.common.problems import DomainError

DEFAULT_LIMIT = 50
MOST = 500


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What the caller asked for: at most `limit` rows, after the row with these sort values."""

    limit: int
    after: tuple[str | int, ...] | None


def page_request(request: HttpRequest, *, default: int = DEFAULT_LIMIT, most: int = MOST) -> PageRequest:
    """Read `limit` and `cursor`; refuses what it cannot use with code `bad_limit` or `bad_cursor`."""
    text = request.GET.get("limit", "") or str(default)
    if not (text.isascii() and text.isdigit() and len(text) < 7 and 1 <= int(text) <= most):
        raise DomainError("bad_limit", f"limit is a whole number from 1 to {most}.", pointer="limit")
    cursor = request.GET.get("cursor", "")
    return PageRequest(limit=int(text), after=decode_cursor(cursor) if cursor else None)


def encode_cursor(values: Sequence[str | int]) -> str:
    """The sort values of the last row, as one word."""
    return base64.urlsafe_b64encode(json.dumps(list(values)).encode()).decode().rstrip("=")


def decode_cursor(word: str) -> tuple[str | int, ...]:
    """The inverse of `encode_cursor`."""
    try:
        values = json.loads(base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(type(value) in (str, int) for value in values):
        raise DomainError("bad_cursor", "cursor must come from `next` of an earlier answer.", pointer="cursor")
    return tuple(values)


def next_address(request: HttpRequest, values: Sequence[str | int] | None) -> str | None:
    """The address of the page after the row with these sort values; None at the end."""
    if values is None:
        return None
    kept = [(name, value) for name, value in request.GET.items() if name != "cursor"]
    return f"{request.path}?{urlencode([*kept, ('cursor', encode_cursor(values))])}"
