"""What every feed takes and gives.

A feed has two doors: `parse(body, context)` splits raw bytes into records, reduces each to its husk
and reads it; `read(husk, context)` is the second half alone, used again by `reread` over the vault.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from sessions_app.kernel.readings import Reading

#: Remark on a record that tells tokens of no session.
SESSIONLESS = "counter_without_session"

#: A record reduced to numbers, ids, times, types and structure (see `husk`).
type Husk = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What the record itself does not say: when it was received (epoch ms) and hints of the request."""

    received_ms: int
    event: str = ""
    final: bool = False
    #: Whose lines these are, where only the first line of the file says it: session, thread, depth of the thread.
    session: str = ""
    thread: str = ""
    depth: int = 0
    #: Whether an OTLP body is protobuf; else it is JSON.
    protobuf: bool = False


class Refused(ValueError):
    """One record cannot be read: a stable code, a JSON pointer into the record, a sentence for people."""

    def __init__(self, code: str, pointer: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.pointer = pointer
        self.message = message


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal (or, among warnings, a remark) with the position of its record: 1-based line or index."""

    position: int
    pointer: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Item:
    """One record that was read: its position, its husk for the vault and its readings (maybe none)."""

    position: int
    husk: Husk
    readings: tuple[Reading, ...] = ()


@dataclass(slots=True)
class Parsed:
    """The outcome of one body; `pending_bytes` is an unfinished last line that was left alone."""

    items: list[Item] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Refusal] = field(default_factory=list)
    pending_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Feed:
    """A named feed; the name is stored with the vault record and finds the feed again."""

    name: str
    host: str
    parse: Callable[[bytes, Context], Parsed]
    read: Callable[[Husk, Context], tuple[Reading, ...]]
    #: Whether a body is lines, each whole by itself, so that a large one may be read in pieces.
    by_line: bool = False
    #: Takes from the head of a file what its later lines do not say themselves.
    prepare: Callable[[bytes, Context], Context] = field(default=lambda body, context: context)
    #: Whose a file is by its place, where its first line is lost.
    session_at: Callable[[PurePath], str] = field(default=lambda path: "")
