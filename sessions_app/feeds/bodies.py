"""Bodies of small records: one JSON value, a list of them, or one a line; spooled ones in an envelope."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.lines import REPLACED, Read, decode, parse_lines
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import Reading

#: Nothing beyond this reaches a feed; the doors have limits of their own below it.
LARGEST = 64 << 20
#: Records of one body of small records.
MOST_RECORDS = 10_000
TOO_MANY = "too_many_records"

#: (pointer, code, message) of what was taken of a record as sent but is likely not meant so.
type Remarks = Callable[[Husk], Iterable[tuple[str, str, str]]]


def too_many(most: int) -> Refused:
    """The refusal of a body with more than `most` records."""
    return Refused(TOO_MANY, "", f"more than {most:,} records; send them in several requests")


def _members(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]


def parse_records(
    body: bytes, context: Context, read: Read, records_of: Callable[[Any], Iterable[Any]] = _members
) -> Parsed:
    """Read every record with `read`; one that raises Refused costs itself alone. The body is complete.

    `records_of` gives the records of one decoded value where that is more than a list.
    """
    text = body.strip(b" \t\r\n")
    if _is_by_line(text):
        return parse_lines(body, replace(context, final=True), read)
    try:
        value, replaced = decode(text, LARGEST)
    except Refused as refused:
        if b"\n" in text:
            return parse_lines(body, replace(context, final=True), read)
        return Parsed(refusals=[Refusal(1, refused.pointer, refused.code, refused.message)])
    parsed = Parsed()
    for position, record in enumerate(records_of(value), 1):
        try:
            parsed.items.append(Item(position, *read(record, context)))
        except Refused as refused:
            parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))
    if replaced:
        parsed.warnings.append(Refusal(1, "", REPLACED, "bytes that are not UTF-8 were replaced"))
    return parsed


def parse_told(
    body: bytes,
    context: Context,
    reduce: Callable[[Any], Husk],
    read: Callable[[Husk, Context], tuple[Reading, ...]],
    remarks_of: Remarks,
) -> Parsed:
    """Reduce and read every record, with remarks on those that were taken. Raises Refused `too_many_records`."""
    remarks: list[tuple[tuple[str, str, str], ...]] = []

    def read_one(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
        reduced = reduce(record)
        readings = read(reduced, context)
        remarks.append(tuple(remarks_of(record)))
        if len(remarks) > MOST_RECORDS:
            raise too_many(MOST_RECORDS)
        return reduced, readings

    parsed = parse_records(body, context, read_one)
    if any(refusal.code == TOO_MANY for refusal in parsed.refusals):
        raise too_many(MOST_RECORDS)
    for item, found in zip(parsed.items, remarks, strict=True):
        parsed.warnings += [Refusal(item.position, pointer, code, text) for pointer, code, text in found]
    return parsed


def _is_by_line(text: bytes) -> bool:
    """Whether the first line alone is a whole value; one value over several lines has no such line."""
    first, newline, _ = text.partition(b"\n")
    if not newline:
        return False
    try:
        decode(first)
    except Refused:
        return False
    return True


def unwrapped(record: Husk, context: Context) -> tuple[Husk, int, str]:
    """(payload, when it was received in ms, pointer to it) of a record that may be in a spool's envelope.

    The envelope is `{"received_at": seconds or ISO 8601, "payload": {...}}`.
    """
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return record, context.received_ms, ""
    at = moment(record.get("received_at"), context.received_ms).ms
    return payload, context.received_ms if at is None else at, "/payload"


def payloads(record: Any) -> Iterator[tuple[str, Husk]]:
    """The record itself and what is in its envelope, as far as they are objects."""
    if isinstance(record, dict):
        yield "", record
        if isinstance(record.get("payload"), dict):
            yield "payload", record["payload"]
