"""Husks: a record without what was said.

Kept are numbers, booleans, nulls and structure, and short strings under keys that are known to hold
ids, types, times, versions, models or names of tools (`husk_keys`). Every other string becomes
`{"~bytes": n}`; a tree that holds content (tool input, tool output, prompts) becomes one such size.
Keys that are no identifiers are dropped with what they hold. The husk of a husk is the same husk.
"""

import math
import re
from functools import lru_cache
from typing import Any

from sessions_app.feeds import husk_keys as keys
from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.husk_strings import IN_BLOCK, SIZE, STRINGS, WRAP, WRAPS, clean, size_of, token
from sessions_app.feeds.otlp_keys import FIGURES
from sessions_app.feeds.tool_deltas import tool_delta

__all__ = ["FLAGS", "SIZE", "WRAP", "clean", "husk", "size_of"]

DEEPEST = 64
#: Set by the reader of lines, which alone sees the bytes; a record cannot set any other flag.
FLAGS, FLAG_NAMES = "~flags", frozenset(("utf8_replaced",))
#: An image costs by its pixels; whatever its bytes, it is no larger than about 1,600 tokens.
IMAGE_BYTES = 6_400

#: Where somebody works is told of a line; inside a block of a message the same names are what was said.
_PLACES = keys.BRANCHES | keys.FOLDERS | keys.REMOTES | keys.PROJECTS

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
#: Names of telemetry attributes; other keys with a dot may be names of files.
_DOTTED = re.compile(
    r"(?:github\.copilot|gen_ai|event|session|prompt|agent|service|usage|os|host)(?:\.[a-z0-9_]{1,40}){1,5}"
)
_FIGURE = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?|true|false")

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


@lru_cache(maxsize=4096)
def _is_name(key: str) -> bool:
    """Whether a key names a field; others may be text or paths."""
    return key in FIGURES or bool(_KEY.fullmatch(key) or _DOTTED.fullmatch(key))


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
            out[key] = _said(record, key, value) if kind is dict else {SIZE: size_of(value)}
        elif kind is dict:
            out[key] = _tree(key, value, keep, depth + 1)
        else:
            out[key] = _list(key, value, keep, depth + 1)
    return out


def _said(record: dict[str, Any], key: str, value: dict[str, Any]) -> Husk:
    """A tree that holds what was said; of tools that come or go their number, of an input what is known of it."""
    delta = tool_delta(value) if key == "attachment" else None
    return _input(record.get("tool_name"), value) if delta is None else delta


def _marker(record: dict[str, Any]) -> Husk:
    """A size that stands already; what else stands beside it must be of a known kind."""
    out: Husk = {SIZE: size_of(record)}
    wrap = record.get(WRAP)
    if type(wrap) is str and wrap in WRAPS:
        out[WRAP] = wrap
    return out


def _string(key: str, value: str, keep: frozenset[str]) -> Any:
    reduce = STRINGS.get(key)
    if reduce is not None:
        return reduce(value)
    if key in keep:
        return token(value)
    return value if _FIGURE.fullmatch(value) else {SIZE: size_of(value)}


def _number(value: float) -> Any:
    """Numbers that JSON and the database hold; larger integers as the size of their digits."""
    if isinstance(value, int):
        return value if INT_MIN <= value <= INT_MAX else {SIZE: value.bit_length() // 3}
    return value if math.isfinite(value) else {SIZE: len(str(value))}


def _tree(key: str, value: dict[str, Any], keep: frozenset[str], depth: int) -> Husk:
    if key == "toolUseResult":
        return _tool_use_result(value)
    if key == "content":
        return _marker(value) if type(value.get(SIZE)) is int else {SIZE: size_of(value)}
    out = _object(value, keep, depth)
    if key in keys.MODELS and isinstance(value.get("id"), str):
        out["id"] = STRINGS[key](value["id"])
    return out


def _list(key: str, value: list[Any], keep: frozenset[str], depth: int) -> Any:
    """Blocks of a message, ids, or records; a list of anything else is content."""
    if key == "content":
        return [_block(block) for block in value]
    if all(type(part) is dict for part in value):
        return [_object(part, keep, depth) for part in value]
    reduce = STRINGS.get(key)
    if reduce is not None and all(type(part) is str for part in value):
        names = [reduce(part) for part in value]
        if all(type(name) is str for name in names):
            return names
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
        if key in IN_BLOCK and kind is str:
            out[key] = IN_BLOCK[key](value)
        elif key == "content":
            out[key] = _content(value)
        elif key == "input" and kind is dict:
            out[key] = _input(block.get("name"), value)
        elif key in _PLACES:
            out[key] = {SIZE: size_of(value)}
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
        told = value.get(key)
        name = STRINGS[key](told) if type(told) is str else None
        if type(name) is str:
            out[key] = name
    return out


_NONE: frozenset[str] = frozenset()
