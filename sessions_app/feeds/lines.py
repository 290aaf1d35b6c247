"""Lines of JSON: split on LF only, decoded one by one, so that one bad line costs itself alone."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.husk import FLAGS
from sessions_app.kernel.readings import Reading

LONGEST_LINE = 8 << 20
DEEPEST = 64
REPLACED = "utf8_replaced"
#: White space of JSON, and the byte order mark that some editors put first; joined files hold it between lines.
_SPACE, _MARK = b" \t\r", b"\xef\xbb\xbf"

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_decode = msgspec.json.Decoder().decode

type Read = Callable[[Any, Context], tuple[Husk, tuple[Reading, ...]]]


def parse_lines(body: bytes, context: Context, read: Read) -> Parsed:
    """Read each line with `read`, which gives husk and readings or raises Refused.

    A last line without a line end counts when it is complete; else it is pending, or refused if the
    upload is final. Codes: `not_json`, `too_deep`, `line_too_large`, and those of `read`.
    """
    parsed = Parsed()
    for position, line, ended in _lines(body):
        if not line:
            continue
        try:
            record, replaced = decode(line)
            if replaced and type(record) is dict:
                record[FLAGS] = [REPLACED]
            husk, readings = read(record, context)
        except Refused as refused:
            if not ended and not context.final and refused.code == "not_json":
                # As it stands in the body: white space at a torn end belongs to the line.
                parsed.pending_bytes = len(body) - body.rfind(b"\n") - 1
            else:
                parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))
            continue
        parsed.items.append(Item(position, husk, readings))
        if replaced:
            parsed.warnings.append(Refusal(position, "", REPLACED, "bytes that are not UTF-8 were replaced"))
    return parsed


def pieces(body: bytes, size: int) -> Iterator[tuple[bytes, int, bool]]:
    """(whole lines of about `size` bytes, number of lines before them, whether they are the last)."""
    start, before, view = 0, 0, memoryview(body)
    while start < len(body):
        end = body.find(b"\n", start + size - 1) + 1 or len(body)
        piece = bytes(view[start:end])
        yield piece, before, end == len(body)
        start, before = end, before + piece.count(b"\n")


def _lines(body: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """(1-based number, line without white space around it, whether it was ended); copies one line at a time."""
    start, number, size = 0, 0, len(body)
    while start < size:
        end = body.find(b"\n", start)
        stop = size if end < 0 else end
        number += 1
        yield number, body[start:stop].removeprefix(_MARK).strip(_SPACE), end >= 0
        start = stop + 1


def decode(line: bytes, limit: int = LONGEST_LINE) -> tuple[Any, bool]:
    """The value of one JSON text, and whether bytes had to be replaced. Refused with a code where it has none."""
    line = line.removeprefix(_MARK)
    if len(line) > limit:
        raise Refused("line_too_large", "", f"{len(line):,} bytes; the limit is {limit:,}")
    if _nests_deeper(line, DEEPEST):
        raise Refused("too_deep", "", f"nested deeper than {DEEPEST}")
    try:
        return _decode(line), False
    except RecursionError:
        raise Refused("too_deep", "", "nested too deeply to be read") from None
    except (msgspec.DecodeError, ValueError) as error:
        return _second_try(line, error)


def encode(value: Any) -> bytes:
    """A value that `decode` gave, as JSON on one line that it reads again: half surrogates and long numbers too."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(value).encode()


def _nests_deeper(text: bytes, limit: int) -> bool:
    """Whether brackets nest deeper than `limit`, found without recursion.

    The parser recurses in C; on a server thread's small stack that ends the process, not in an exception.
    """
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _STRING.sub(b"", text).translate(None, delete=_NO_BRACKETS)
    for _ in range(limit):
        if not brackets:
            return False
        # Each round takes away the innermost pairs: as many rounds as there are levels.
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return len(brackets) > limit


def _second_try(line: bytes, error: Exception) -> tuple[Any, bool]:
    """Bytes that are no UTF-8 are replaced and lone surrogates taken; everything else is no JSON."""
    try:
        text, replaced = line.decode(), False
    except UnicodeDecodeError:
        text, replaced = line.decode("utf-8", "replace"), True
    if not replaced and b"\\ud" not in line and b"\\uD" not in line:
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
