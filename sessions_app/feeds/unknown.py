"""Records of a shape that no feed knows: kept reduced in the vault, so that a later version may read them."""

from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed
from sessions_app.feeds.bodies import parse_records
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import Reading


def parse(body: bytes, context: Context) -> Parsed:
    """Reduce each record; none says anything."""
    return parse_records(body, context, _reduce)


def _reduce(record: Any, _context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    return husk(record), ()


def read(_record: Husk, _context: Context) -> tuple[Reading, ...]:
    """Nothing."""
    return ()


FEED = Feed("unknown", "canonical", parse, read)
