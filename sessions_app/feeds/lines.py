"""Lines of JSON: split on LF only, decoded one by one, so that one bad line costs itself alone."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.kernel.readings import Reading

LONGEST_LINE = 8 << 20
REPLACED = "utf8_replaced"

_decode = msgspec.json.Decoder().decode


def parse_lines(body: bytes, context: Context, read: Callable[[Any, Context], tuple[Husk, tuple[Reading, ...]]]) -> Parsed:
    """Read each line; an unfinished last line without a line end is pending, unless the upload is final."""
    parsed = Parsed()
    for position, line, ended in _lines(body):
        if not line:
            continue
        try:
            record, replaced = decode(line)
        except Refused as refused:
            if not ended and not context.final and refused.code == "not_json":
                parsed.pending_bytes = len(line)
            else:
                parsed.refusals.append(_at(position, refused))
            continue
        try:
            if replaced and isinstance(record, dict):
                record[REPLACED] = True
            husk, readings = read(record, context)
        except Refused as refused:
            parsed.refusals.append(_at(position, refused))
            continue
        parsed.items.append(Item(position, husk, readings))
        if replaced:
            parsed.warnings.append(Refusal(position, "", REPLACED, "bytes that are not UTF-8 were replaced"))
    return parsed


def _at(position: int, refused: Refused) -> Refusal:
    return Refusal(position, refused.pointer, refused.code, refused.message)


def _lines(body: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """(1-based number, content without white space around, whether it was ended), without a copy of the whole."""
    start, number, size = 0, 0, len(body)
    while start < size:
        end = body.find(b"\n", start)
        stop = size if end < 0 else end
        number += 1
        yield number, body[start:stop].strip(b" \t\r\xef\xbb\xbf" if number == 1 else b" \t\r"), end >= 0
        start = stop + 1


def decode(line: bytes) -> tuple[Any, bool]:
    """The value of one JSON text, and whether bytes had to be replaced. Refused with a code where it has none."""
    if len(line) > LONGEST_LINE:
        raise Refused("line_too_large", "", f"{len(line):,} bytes; the limit is {LONGEST_LINE:,}")
    try:
        return _decode(line), False
    except RecursionError:
        raise Refused("too_deep", "", "nested too deeply to be read") from None
    except (msgspec.DecodeError, ValueError, UnicodeDecodeError) as error:
        return _second_try(line, error)


def _second_try(line: bytes, error: Exception) -> tuple[Any, bool]:
    """Bytes that are no UTF-8 and lone surrogates are replaced; everything else is no JSON."""
    text = line.decode("utf-8", "replace")
    replaced = "\ufffd" in text and b"\xef\xbf\xbd" not in line
    if not replaced and b"\\ud" not in line.lower():
        raise Refused("not_json", "", _reason(error)) from None
    try:
        return json.loads(text, parse_constant=_no_constant), replaced
    except RecursionError:
        raise Refused("too_deep", "", "nested too deeply to be read") from None
    except ValueError:
        raise Refused("not_json", "", _reason(error)) from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _reason(error: Exception) -> str:
    """Our words with the parser's position; the parser never quotes the text."""
    text = str(error)
    place = text[text.rfind("(") :] if "(" in text else ""
    return f"not valid JSON {place}".strip()
