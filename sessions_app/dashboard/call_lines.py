"""The table of a session's calls, and the words that go with each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecm_site.common import figures
from sessions_app.dashboard import cause_words, words
from sessions_app.models import Call

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call with its labels; percentages are cut towards zero."""

    call: Call
    thread: str
    purpose: str
    percent: str
    #: Of the window that was known when the call was made, where a later compaction bounded it.
    known_percent: str
    is_estimated: bool
    title: str
    tokens_title: str
    href: str
    cause: str

    @property
    def written_5m(self) -> str:
        """Tokens written for five minutes, or for a time that no source told."""
        return figures.tokens(self.call.cache_write_5m)

    @property
    def ttl_note(self) -> str:
        """How many of them are of unknown lifetime."""
        return f"{figures.tokens(self.call.cache_write_unknown_ttl)} of unknown lifetime, priced as 5 min"

    @property
    def is_point(self) -> bool:
        """True for calls of the main chain that have a zone."""
        return bool(self.call.zone)


@dataclass(frozen=True, slots=True)
class CallPages:
    """One page of the table."""

    lines: tuple[CallLine, ...]
    total: int
    page: int
    pages: int
    has_known: bool
    has_losses: bool
    #: More than one model made them.
    has_models: bool

    @property
    def numbers(self) -> tuple[tuple[int, int, int], ...]:
        """(page, first call, last call) of every page."""
        return tuple(
            (page, (page - 1) * PAGE_SIZE + 1, min(page * PAGE_SIZE, self.total)) for page in range(1, self.pages + 1)
        )


def call_lines(calls: Sequence[Call], threads: Mapping[str, str], window: int | None) -> tuple[CallLine, ...]:
    """Lines in the order of calls."""
    is_paged = len(calls) > PAGE_SIZE
    return tuple(_line(call, threads, window, is_paged) for call in calls)


def _line(call: Call, threads: Mapping[str, str], window: int | None, is_paged: bool) -> CallLine:
    bounded = call.known_window if call.known_window and call.known_window != call.window else None
    purpose = words.word(words.PURPOSES, call.purpose)
    share = figures.percent(call.occupancy, call.window)
    return CallLine(
        call=call,
        thread=threads.get(call.thread, call.thread[:8]) if call.thread else "",
        purpose=purpose,
        percent=share,
        known_percent=figures.percent(call.occupancy, bounded) if bounded else "",
        is_estimated=call.window_origin != "stated",
        title=f"{_name(call, threads, purpose)}: {_fill(call, share)}",
        tokens_title=(
            f"{_name(call, threads, purpose)}: read {figures.tokens(call.cache_read)},"
            f" written {figures.tokens(call.written_tokens)}, uncached {figures.tokens(call.uncached_input)}"
        ),
        href=href_of(call, is_paged=is_paged),
        cause=cause_words.sentence(call.miss_cause) if call.missed_tokens else "",
    )


def href_of(call: Call, *, is_paged: bool) -> str:
    """Where the call's line is; a long table must first show the right page."""
    return f"?at={call.number}#c{call.number}" if is_paged else f"#c{call.number}"


def _name(call: Call, threads: Mapping[str, str], purpose: str) -> str:
    thread = threads.get(call.thread, "") if call.thread else ""
    return ", ".join(part for part in (f"Call {call.number}", thread, purpose) if part)


def _fill(call: Call, share: str) -> str:
    if call.zone:
        return f"{figures.tokens(call.occupancy)} tokens, {share} {call.zone}"
    return f"{figures.tokens(call.prompt_tokens)} tokens"


def pages_of(lines: Sequence[CallLine], parameters: Mapping[str, str]) -> CallPages:
    """The page that `calls` names, or the one that holds call `at`; else the first."""
    pages = max(-(-len(lines) // PAGE_SIZE), 1)
    at = _number(parameters.get("at"))
    page = -(-at // PAGE_SIZE) if at else _number(parameters.get("calls")) or 1
    page = min(max(page, 1), pages)
    return CallPages(
        lines=tuple(lines[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]),
        total=len(lines),
        page=page,
        pages=pages,
        has_known=any(line.known_percent for line in lines),
        has_losses=any(line.cause for line in lines),
        has_models=len({line.call.model for line in lines}) > 1,
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= 9 else 0
