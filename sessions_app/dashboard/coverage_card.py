"""The coverage map as the page of sources shows it: a card per host, and all hosts side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sessions_app.dashboard import coverage_words, words
from sessions_app.kernel.coverage import SHOWN, Cover, Seen, State, Todo, coverage
from sessions_app.kernel.topics import Topic
from sessions_app.models import SourceRow


@dataclass(frozen=True, slots=True)
class CoverLine:
    """One signal of one host in words; `ways` told it, the last of them at `told_at`."""

    name: str
    state: State
    ways: str
    told_at: datetime | None
    remark: str
    todo: str
    #: Somebody can do it now; the rest comes by itself.
    is_urgent: bool


@dataclass(frozen=True, slots=True)
class HostCard:
    """The map of one host; what is not received comes first, for that is where something can be done."""

    slug: str
    name: str
    lines: tuple[CoverLine, ...]
    counts: tuple[tuple[State, int], ...]
    #: States in the order of the signals.
    states: tuple[State, ...]


def host_cards(rows: Sequence[SourceRow], stated: set[str]) -> tuple[HostCard, ...]:
    """A card per host that reports, in the order in which they spoke last; `stated` are hosts with a billing mode."""
    seen = seen_of(rows)
    cards: list[HostCard] = []
    for slug in dict.fromkeys(row.host for row in rows):
        covers = coverage(slug, seen, billing_stated=slug in stated)
        states = tuple(cover.state for cover in covers)
        lines = tuple(_line(cover) for state in _ORDER for cover in covers if cover.state is state)
        counts = tuple((state, states.count(state)) for state in State if state in states)
        cards.append(HostCard(slug, words.word(words.HOSTS, slug), lines, counts, states))
    return tuple(cards)


def seen_of(rows: Iterable[SourceRow]) -> list[Seen]:
    """What the rows of sources say, as the coverage map takes it."""
    return [
        Seen(
            row.host,
            coverage_words.way_of(row.feed),
            _ms(row.last_received_at),
            {Topic(topic): at_ms for topic, at_ms in row.topics.items() if topic in Topic},
        )
        for row in rows
    ]


_ORDER = (State.SILENT, State.ESTIMATED, State.RECEIVED, State.IMPOSSIBLE)


def matrix_of(hosts: Sequence[HostCard]) -> tuple[tuple[str, tuple[State, ...]], ...]:
    """Each signal with its state per host; empty for one host."""
    if len(hosts) < 2:
        return ()
    names = (coverage_words.MEANINGS[topic].name for topic in SHOWN)
    return tuple(zip(names, zip(*(host.states for host in hosts), strict=True), strict=True))


def _line(cover: Cover) -> CoverLine:
    return CoverLine(
        name=coverage_words.MEANINGS[cover.topic].name,
        state=cover.state,
        ways=words.listed([coverage_words.WAYS[way] for way, _ in cover.told]),
        told_at=datetime.fromtimestamp(cover.told[0][1] / 1000, UTC) if cover.told else None,
        remark=coverage_words.remark(cover),
        todo=coverage_words.todo(cover),
        is_urgent=cover.todo in (Todo.CONNECT, Todo.RESTORE, Todo.STATE),
    )


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
