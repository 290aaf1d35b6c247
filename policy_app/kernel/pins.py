"""Pins: texts that survive every lossy operation word for word; how sets add up, and what a host is told.

A base set may be extended downstream, never shrunk or reworded: an extension's pin with a known id is left out, except
where the base keeps the place open for its client. Everything here is pure and gives the same bytes for the same pins.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policy_app.kernel.errors import Duplicate, Refused, TooLarge, UnknownName, WrongType
from policy_app.kernel.names import id_of, text_of, twice

#: What a host takes in one injected text (Claude Code: longer text becomes a file and a preview), in UTF-16 units.
LIMIT_CHARS: Final = 10_000
#: Kept free for naming what had no room.
NOTE_CHARS: Final = 200
#: Of the names of all sets together.
NAME_CHARS: Final = 200
MOST_PINS: Final = 40
MOST_TEXT: Final = 2_000
MOST_WHY: Final = 500
#: How the size in tokens is known, for whoever is shown it.
TOKENS_ORIGIN: Final = "estimated: UTF-8 bytes / 4"


class ForeignContent(Refused):
    """Content of a tool or page from outside: it would come back after every compaction as if it were ours."""

    code = "foreign_content"


class Tier(StrEnum):
    """Where a pin's text comes from: own rules, or the user and own memory. Nothing else becomes a pin."""

    T0 = "T0"
    T1 = "T1"


class Source(StrEnum):
    """Who says the text: an administrator, in the set; or the client, for a project or a session."""

    ADMIN = "admin"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Pin:
    """One text, and why it must survive. With source `client` the text stands until the client says its own."""

    id: str
    text: str
    why: str
    tier: Tier = Tier.T0
    source: Source = Source.ADMIN

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", id_of("id", self.id))
        object.__setattr__(self, "tier", tier_of(self.tier))
        object.__setattr__(self, "source", _source_of(self.source))
        is_open = self.source is Source.CLIENT
        object.__setattr__(self, "text", text_of("text", cleaned(self.text), most=MOST_TEXT, empty=is_open))
        object.__setattr__(self, "why", text_of("why", cleaned(self.why), most=MOST_WHY))

    @property
    def sha256(self) -> str:
        """Of the text after NFC and with white space folded: what is compared with a summary."""
        return hashlib.sha256(folded(self.text).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PinSet:
    """Pins with distinct ids, in the order in which they come back."""

    pins: tuple[Pin, ...]

    def __post_init__(self) -> None:
        if len(self.pins) > MOST_PINS:
            raise TooLarge("pins", len(self.pins), f"must be at most {MOST_PINS}")
        if (name := twice(pin.id for pin in self.pins)) is not None:
            raise Duplicate("pins", name, "must have each id once")


@dataclass(frozen=True, slots=True)
class Rendered:
    """What comes back (`pins`, `restore_text`), what the summariser reads before, and ids that had no room."""

    pins: tuple[Pin, ...]
    restore_text: str
    before_text: str
    left_out: tuple[str, ...] = ()


def tier_of(raw: object) -> Tier:
    """T0 or T1. Raises `ForeignContent` for T3, `UnknownName` for anything else."""
    if isinstance(raw, str) and raw in Tier:
        return Tier(raw)
    if raw == "T3":
        raise ForeignContent("tier", raw, "must be T0 or T1: content from outside never becomes a pin")
    raise UnknownName("tier", raw, "must be T0 or T1")


def _source_of(raw: object) -> Source:
    if isinstance(raw, str) and raw in Source:
        return Source(raw)
    raise UnknownName("source", raw, "must be admin or client")


#: Reorders or hides what a reader sees; and the tags in which hosts wrap what hooks inject.
_HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_WRAPPING = re.compile(r"<\s*/?\s*system-reminder[^>]*>", re.IGNORECASE)


def cleaned(raw: object) -> str:
    """Text in NFC without controls, bidirectional overrides, lone surrogates and the host's own tags; trimmed."""
    if not isinstance(raw, str):
        raise WrongType("text", raw, "must be text")
    text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n").replace("\r", "\n"))
    text = _HIDDEN.sub("", "".join(sign for sign in text if sign in "\n\t" or not _is_control(sign)))
    while (less := _WRAPPING.sub("", text)) != text:
        text = less
    return unicodedata.normalize("NFC", text).strip()


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs")


def folded(text: str) -> str:
    """NFC, runs of white space as one blank, stripped."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def chars(text: str) -> int:
    """Length as hosts count it: UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def tokens(text: str) -> int:
    """Estimated size; see `TOKENS_ORIGIN`."""
    return -(-len(text.encode()) // 4)


def rendered(name: str, sets: Sequence[PinSet], supplied: Iterable[Pin] = ()) -> Rendered:
    """The first set whole, then what the others and the clients add, while it has room: a whole pin or none of it.

    `name` says where they come from. Who says a thing first is right: a later pin with a known id is ignored, but the
    first text that a client supplies (`supplied`, the narrowest first) fills a place that a set keeps open for it.
    """
    pins = {pin.id: pin for pin in (sets[0].pins if sets else ())}
    left_out: list[str] = []
    for pin in (pin for each in sets[1:] for pin in each.pins):
        if pin.id not in pins:
            _add(name, pins, pin, left_out)
    fillable = {pin.id for pin in pins.values() if pin.source is Source.CLIENT}
    for pin in supplied:
        if (pin.id in fillable or pin.id not in pins) and _add(name, pins, pin, left_out):
            fillable.discard(pin.id)
    said = tuple(pin for pin in pins.values() if pin.text)
    return Rendered(said, _restore(name, said) + _note(left_out), _before(said), tuple(left_out))


def _add(name: str, pins: dict[str, Pin], pin: Pin, left_out: list[str]) -> bool:
    has_room = chars(_restore(name, {**pins, pin.id: pin}.values())) <= LIMIT_CHARS - NOTE_CHARS
    if has_room:
        pins[pin.id] = pin
    else:
        left_out.append(pin.id)
    return has_room


def fits(base: PinSet) -> bool:
    """Whether a set by itself, under any name, has room in the host's limit."""
    return chars(_restore("x" * NAME_CHARS, base.pins)) <= LIMIT_CHARS - NOTE_CHARS


def _restore(name: str, pins: Iterable[Pin]) -> str:
    said = [pin for pin in pins if pin.text]
    if not said:
        return ""
    head = f"Pinned context (ECM, {name}), word for word. Where the summary says otherwise, this is right."
    return "\n".join((head, *(_block(pin) for pin in said)))


def _block(pin: Pin) -> str:
    """Lines after the first are indented, so that no text can look like another pin."""
    return f"[{pin.id}] " + pin.text.replace("\n", "\n  ")


def _note(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    names = ""
    for count, name in enumerate(left_out):
        longer = f"{names}, {name}" if names else name
        if len(longer) > NOTE_CHARS - 60:
            return f"\nLeft out for lack of room: {names} and {len(left_out) - count} more."
        names = longer
    return f"\nLeft out for lack of room: {names}."


_REMINDER = (
    "Keep exact specifics word for word: file paths with line numbers, symbols, error messages, versions, commands,"
    " decision ids with their reasons, failed approaches, open questions, the current step and the next one. Say where"
    " they were written down outside of this conversation, if they were."
)


def _before(pins: Sequence[Pin]) -> str:
    if not pins:
        return _REMINDER
    names = ", ".join(pin.id for pin in pins)
    return f"{_REMINDER}\nThese pins come back by themselves after the compaction; do not copy them: {names}."
