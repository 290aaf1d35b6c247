"""What becomes of a string in a husk, by its key; and sizes, which stand for all that is left out."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from sessions_app.feeds import husk_keys as keys
from sessions_app.feeds.base import Husk, Refused

LONGEST = 200
#: Under this key stands the size of what was left out: bytes of UTF-8 text, or of compact JSON.
SIZE = "~bytes"
#: Beside a size: how the host wrapped the text (`husk_keys.WRAPPERS`).
WRAP = "~wrap"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: How keys and tokens of providers begin; one that was put where an id belongs is no id.
_SECRET = re.compile(r"sk-|pk-|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ|[Bb]earer")
#: Printable ASCII without space and without both slashes.
_PLAIN = re.compile(rf"(?!{_SECRET.pattern})[!-.0-\[\]-~]{{0,{LONGEST}}}")
_TIME = re.compile(r"[0-9TtZz:+\-., ]{1,40}")
_MODEL = re.compile(r"[A-Za-z0-9_.:@+\-\[\]()<>=/]{1,120}")
_FOREIGN_PATH = re.compile(r"^(?:/|~|\.{1,2}/|[A-Za-z]:[\\/])|\\|\.\.|\s")
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+/|[:/])"
    r"((?:[A-Za-z0-9_.~-]+/){1,4}[A-Za-z0-9_.-]+?)(?:\.git)*/?"
)


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


def kept_id(value: str) -> str:
    """An id as it is kept: one that is no plain word as a digest, so that equal ids stay equal."""
    if _PLAIN.fullmatch(value):
        return value
    cleaned = clean(value)
    if _PLAIN.fullmatch(cleaned):
        return cleaned
    return "~" + hashlib.sha256(cleaned.encode()).hexdigest()[:24]


def made_id(start: str, value: str, end: str = "") -> str:
    """A name that a feed makes out of an id; no longer than an id may be."""
    made = f"{start}{value}{end}"
    return made if len(made) <= LONGEST else f"{start}~{hashlib.sha256(made.encode()).hexdigest()[:24]}{end}"


def token(value: str) -> Any:
    """One word as it is, cleaned; a text, a path or a secret as its size."""
    if _PLAIN.fullmatch(value):
        return value
    # Names of types and tools are ASCII; many languages write whole sentences without a space.
    cleaned = clean(value)
    return cleaned if _PLAIN.fullmatch(cleaned) else {SIZE: size_of(value)}


def _time(value: str) -> Any:
    return value if _TIME.fullmatch(value) else {SIZE: size_of(value)}


def _branch(value: str) -> Any:
    cleaned = clean(value)
    return cleaned if len(cleaned) <= LONGEST and not _FOREIGN_PATH.search(cleaned) else {SIZE: size_of(value)}


def _model(value: str) -> Any:
    name = clean(value)
    if _FOREIGN_PATH.search(name):
        name = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return name if _MODEL.fullmatch(name) and not _SECRET.match(name) else {SIZE: size_of(value)}


def _folder(value: str) -> str:
    return clean(value).replace("\\", "/").rstrip("/").rpartition("/")[2][:100]


def _remote(value: str) -> Any:
    found = _REMOTE.fullmatch(clean(value)) if len(value) <= LONGEST and ".." not in value else None
    return f"{found[1]}/{found[2]}" if found else {SIZE: size_of(value)}


def _project(value: str) -> Any:
    remote = _remote(value)
    return _branch(value) if type(remote) is dict else remote


WRAPS = frozenset(wrap for _, wrap in keys.WRAPPERS)

#: What becomes of a string, by its key.
STRINGS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(keys.IDS, kept_id),
    **dict.fromkeys(keys.TOKENS, token),
    **dict.fromkeys(keys.MODELS, _model),
    **dict.fromkeys(keys.TIMES, _time),
    **dict.fromkeys(keys.BRANCHES, _branch),
    **dict.fromkeys(keys.FOLDERS, _folder),
    **dict.fromkeys(keys.REMOTES, _remote),
    **dict.fromkeys(keys.PROJECTS, _project),
    **dict.fromkeys(keys.CONTENT, _content_text),
    "content": _wrapped,
}
IN_BLOCK: dict[str, Callable[[str], Any]] = {"name": token, "text": _wrapped}
