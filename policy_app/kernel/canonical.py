"""Canonical JSON (after RFC 8785): one byte sequence for one value, and its SHA-256.

Keys sorted by UTF-16 code units, no white space, only the escapes that JSON demands, text in NFC. Numbers are
integers that a double holds exactly; decimals are text in this product, so a float is refused rather than spelled.
"""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence

from policy_app.kernel.errors import BadText, Duplicate, OutOfRange, TooLarge, WrongType

#: The largest integer of I-JSON (RFC 7493).
MOST_INTEGER = 2**53 - 1
MOST_DEPTH = 64
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def canonical(value: object) -> bytes:
    """The value (None, bool, int, str, sequences, mappings with text keys) as canonical UTF-8.

    Raises `WrongType`, `OutOfRange`, `BadText`, `Duplicate` (keys equal in NFC) or `TooLarge` (nesting).
    """
    parts: list[str] = []
    _write(value, parts, "$", MOST_DEPTH)
    return "".join(parts).encode()


def digest(value: object) -> str:
    """SHA-256 of the canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _write(value: object, parts: list[str], path: str, depth: int) -> None:
    if depth == 0:
        raise TooLarge(path, "deeper nesting", f"must be nested at most {MOST_DEPTH} deep")
    match value:
        case None | bool():
            parts.append({None: "null", True: "true", False: "false"}[value])
        case int():
            if abs(value) > MOST_INTEGER:
                raise OutOfRange(path, value, "must be an integer that a double holds exactly")
            parts.append(str(int(value)))
        case str():
            parts.append(_quoted(_normal(path, value)))
        case Mapping():
            _write_object(value, parts, path, depth)
        case Sequence() if not isinstance(value, bytes | bytearray):
            parts.append("[")
            for index, each in enumerate(value):
                parts.append("," if index else "")
                _write(each, parts, f"{path}[{index}]", depth - 1)
            parts.append("]")
        case _:
            raise WrongType(path, value, "must be null, boolean, integer, text, list or object")


def _write_object(value: Mapping[object, object], parts: list[str], path: str, depth: int) -> None:
    by_key: dict[str, object] = {}
    for key, each in value.items():
        if not isinstance(key, str):
            raise WrongType(path, key, "must have text as keys")
        normal = _normal(path, key)
        if normal in by_key:
            raise Duplicate(path, key, "must have each key once")
        by_key[normal] = each
    parts.append("{")
    for index, key in enumerate(sorted(by_key, key=lambda name: name.encode("utf-16-be"))):
        parts.append(f"{',' if index else ''}{_quoted(key)}:")
        _write(by_key[key], parts, f"{path}.{key}", depth - 1)
    parts.append("}")


def _normal(path: str, text: str) -> str:
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise BadText(path, text, "must not hold lone surrogates")
    return unicodedata.normalize("NFC", text)


def _quoted(text: str) -> str:
    return f'"{"".join(_ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if sign < " " else sign) for sign in text)}"'
