"""Husks: a record without what was said.

Kept are numbers, booleans, nulls and structure, and short strings under keys that are known to hold
ids, types, times, versions, models or names of tools (`husk_keys`). Every other string becomes
`{"~bytes": n}`; a tree that holds content (tool input, tool output, prompts) becomes one such size.
Keys that are no identifiers are dropped with what they hold. The husk of a husk is the same husk.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from sessions_app.feeds import husk_keys as keys
from sessions_app.feeds.base import Husk, Refused

DEEPEST = 64
LONGEST = 200
#: Under this key stands the size of what was left out: bytes of UTF-8 text, or of compact JSON.
SIZE = "~bytes"
#: Set by the reader of lines, which alone sees the bytes; a record cannot set any other flag.
FLAGS, FLAG_NAMES = "~flags", frozenset(("utf8_replaced",))
#: Beside a size: how the host wrapped the text (`husk_keys.WRAPPERS`).
WRAP = "~wrap"
#: An image costs by its pixels; whatever its bytes, it is no larger than about 1,600 tokens.
IMAGE_BYTES = 6_400

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
#: Names of telemetry attributes; other keys with a dot may be names of files.
_DOTTED = re.compile(r"(?:gen_ai|event|session|prompt|agent|service|usage|os|host)(?:\.[a-z0-9_]{1,40}){1,5}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Printable ASCII without space and without both slashes.
_PLAIN = re.compile(r"[!-.0-\[\]-~]{0,200}")
_FIGURE = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?|true|false")
_TIME = re.compile(r"[0-9TtZz:+\-., ]{1,40}")
_MODEL = re.compile(r"[A-Za-z0-9_.:@+\-\[\]()<>=/]{1,120}")
_FOREIGN_PATH = re.compile(r"^(?:/|~|\.{1,2}/|[A-Za-z]:[\\/])|\\|\.\.|\s")
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+/|[:/])"
    r"((?:[A-Za-z0-9_.~-]+/){1,4}[A-Za-z0-9_.-]+?)(?:\.git)?/?"
)

INT_MIN, INT_MAX = -(1 << 63), (1 << 64) - 1


def husk(record: Any, *, keep: frozenset[str] = frozenset()) -> Husk:
    """The husk of one decoded record; `keep` names more keys whose one-word strings stay.

    Refused: `not_an_object`, and `too_deep` beyond 64 levels of structure.
    """
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    out = _object(record, keep, 0)
    flags = record.get(FLAGS)
    if type(flags) is list:
        out[FLAGS] = sorted({flag for flag in flags if type(flag) is str and flag in FLAG_NAMES})
    return out


def size_of(value: Any) -> int:
    """Bytes of a value: what a husk says of it, else those of its text or of its compact JSON."""
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        told = value.get(SIZE)
        if type(told) is int and told >= 0:
            return told
    if value is None:
        return 0
    try:
        return len(msgspec.json.encode(value))
    except (msgspec.MsgspecError, OverflowError, UnicodeError):
        # Integers beyond 64 bits and lone surrogates are JSON for others.
        return len(json.dumps(value, separators=(",", ":")))
    except RecursionError:
        raise Refused("too_deep", "", "nested too deeply") from None


def clean(text: str) -> str:
    """Text without control characters; lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


@lru_cache(maxsize=4096)
def _is_name(key: str) -> bool:
    """Whether a key names a field; others may be text or paths."""
    return bool(_KEY.fullmatch(key) or _DOTTED.fullmatch(key))


def _object(record: dict[str, Any], keep: frozenset[str], depth: int) -> Husk:
    if depth > DEEPEST:
        raise Refused("too_deep", "", f"nested deeper than {DEEPEST}")
    if type(record.get(SIZE)) is int:
        return _marker(record)
    out: Husk = {}
    for key, value in record.items():
        if key not in STRINGS and not _is_name(key):
            continue
        kind = type(value)
        if value is None or kind is bool:
            out[key] = value
        elif kind is str:
            out[key] = _string(key, value, keep)
        elif kind is int or kind is float:
            out[key] = _number(value)
        elif key in keys.CONTENT:
            out[key] = _marker(value) if kind is dict and type(value.get(SIZE)) is int else {SIZE: size_of(value)}
        elif kind is dict:
            out[key] = _tree(key, value, keep, depth + 1)
        else:
            out[key] = _list(key, value, keep, depth + 1)
    return out


def _marker(record: dict[str, Any]) -> Husk:
    """A size that stands already; what else stands beside it must be of a known kind."""
    out: Husk = {SIZE: size_of(record)}
    wrap = record.get(WRAP)
    if type(wrap) is str and wrap in _WRAPS:
        out[WRAP] = wrap
    return out


def _string(key: str, value: str, keep: frozenset[str]) -> Any:
    reduce = STRINGS.get(key)
    if reduce is not None:
        return reduce(value)
    if key in keep:
        return _token(value)
    return value if _FIGURE.fullmatch(value) else {SIZE: size_of(value)}


def _number(value: float) -> Any:
    """Numbers that JSON and the database hold exactly; larger integers as digits."""
    if isinstance(value, int):
        if INT_MIN <= value <= INT_MAX:
            return value
        return str(value) if value.bit_length() <= 66 and len(str(value)) <= 21 else {SIZE: value.bit_length() // 3}
    return value if math.isfinite(value) else {SIZE: len(str(value))}


def _tree(key: str, value: dict[str, Any], keep: frozenset[str], depth: int) -> Husk:
    if key == "toolUseResult":
        return _tool_use_result(value)
    if key == "content":
        return _marker(value) if type(value.get(SIZE)) is int else {SIZE: size_of(value)}
    out = _object(value, keep, depth)
    if key in keys.MODELS and isinstance(value.get("id"), str):
        out["id"] = _model(value["id"])
    return out


def _list(key: str, value: list[Any], keep: frozenset[str], depth: int) -> Any:
    """Blocks of a message, ids, or records; a list of anything else is content."""
    if key == "content":
        return [_block(block) for block in value]
    if all(type(part) is dict for part in value):
        return [_object(part, keep, depth) for part in value]
    reduce = STRINGS.get(key)
    if reduce is not None and key not in keys.CONTENT and all(type(part) is str for part in value):
        return [reduce(part) for part in value]
    return {SIZE: size_of(value)}


def _block(block: Any) -> Husk:
    """One block of a message: scalars and names, everything else as its size."""
    if type(block) is not dict:
        return {SIZE: size_of(block)}
    if type(block.get(SIZE)) is int:
        return _marker(block)
    out: Husk = {}
    for key, value in block.items():
        kind = type(value)
        if key in _IN_BLOCK and kind is str:
            out[key] = _IN_BLOCK[key](value)
        elif key == "content":
            out[key] = _content(value)
        elif key == "input" and kind is dict:
            out[key] = _input(block.get("name"), value)
        elif key in STRINGS or _is_name(key):
            out[key] = _leaf(key, value)
    return out


def _leaf(key: str, value: Any) -> Any:
    """A value in a block: trees are content there."""
    kind = type(value)
    if kind is str:
        return _string(key, value, _NONE)
    if kind is int or kind is float:
        return _number(value)
    if kind is dict or kind is list:
        return _marker(value) if kind is dict and type(value.get(SIZE)) is int else {SIZE: size_of(value)}
    return value


def _content(value: Any) -> Any:
    """Size of what a tool gave back: texts as they are, images by what they cost at most."""
    if type(value) is not list:
        return _marker(value) if type(value) is dict and type(value.get(SIZE)) is int else {SIZE: size_of(value)}
    total = 0
    for part in value:
        if type(part) is dict and type(part.get("text")) is str:
            total += size_of(part["text"])
        else:
            size = size_of(part)
            total += min(size, IMAGE_BYTES) if type(part) is dict and part.get("type") == "image" else size
    return {SIZE: total}


def _input(tool: Any, value: dict[str, Any]) -> Husk:
    """Size of a tool's input; of the memory tool also which command it was."""
    out: Husk = {SIZE: size_of(value)}
    command = value.get("command")
    if tool == "memory" and type(command) is str and command in keys.MEMORY_COMMANDS:
        out["command"] = command
    return out


def _tool_use_result(value: dict[str, Any]) -> Husk:
    out: Husk = {SIZE: size_of(value)}
    for key in keys.AGENT_FACTS:
        if type(value.get(key)) is str:
            out[key] = STRINGS[key](value[key])
    return out


def _wrapped(value: str) -> Husk:
    """Size of a text, and the mark that says that the host, not a person, wrote it."""
    out: Husk = {SIZE: size_of(value)}
    if value[:1] in "<[C":
        for start, wrap in keys.WRAPPERS:
            if value.startswith(start):
                out[WRAP] = wrap
    return out


def _content_text(value: str) -> Husk:
    return {SIZE: size_of(value)}


def _id(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    cleaned = clean(value)
    if _PLAIN.fullmatch(cleaned):
        return cleaned
    return "~" + hashlib.sha256(cleaned.encode()).hexdigest()[:24]


def _token(value: str) -> Any:
    if _PLAIN.fullmatch(value):
        return value
    cleaned = clean(value)
    worthy = len(cleaned) <= LONGEST and not _FOREIGN_PATH.search(cleaned) and "/" not in cleaned
    return cleaned if worthy else {SIZE: size_of(value)}


def _time(value: str) -> Any:
    return value if _TIME.fullmatch(value) else {SIZE: size_of(value)}


def _branch(value: str) -> Any:
    cleaned = clean(value)
    return cleaned if len(cleaned) <= LONGEST and not _FOREIGN_PATH.search(cleaned) else {SIZE: size_of(value)}


def _model(value: str) -> Any:
    name = clean(value)
    if _FOREIGN_PATH.search(name):
        name = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return name if _MODEL.fullmatch(name) else {SIZE: size_of(value)}


def _folder(value: str) -> str:
    return clean(value).replace("\\", "/").rstrip("/").rpartition("/")[2][:100]


def _remote(value: str) -> Any:
    found = _REMOTE.fullmatch(clean(value))
    return f"{found[1]}/{found[2]}" if found else {SIZE: size_of(value)}


_NONE: frozenset[str] = frozenset()
_WRAPS = frozenset(wrap for _, wrap in keys.WRAPPERS)

#: What becomes of a string, by its key.
STRINGS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(keys.IDS, _id),
    **dict.fromkeys(keys.TOKENS, _token),
    **dict.fromkeys(keys.MODELS, _model),
    **dict.fromkeys(keys.TIMES, _time),
    **dict.fromkeys(keys.BRANCHES, _branch),
    **dict.fromkeys(keys.FOLDERS, _folder),
    **dict.fromkeys(keys.REMOTES, _remote),
    **dict.fromkeys(keys.CONTENT, _content_text),
    "content": _wrapped,
}
_IN_BLOCK: dict[str, Callable[[str], Any]] = {"name": _token, "text": _wrapped}
