"""The timeline of a session, from its rows."""

from collections.abc import Sequence

from sessions_app.dashboard import charts, words
from sessions_app.dashboard.call_lines import CallLine
from sessions_app.dashboard.compaction_cards import counts
from sessions_app.dashboard.findings import LEAST_TOKENS
from sessions_app.dashboard.losses import is_loss
from sessions_app.dashboard.shapes import Cut, Sample, Timeline
from sessions_app.kernel.readings import Purpose
from sessions_app.models import Call, Compaction


def timeline_of(lines: Sequence[CallLine], compactions: Sequence[Compaction], window: int | None) -> Timeline:
    """The chart; `window` is that of the newest call."""
    calls = [line.call for line in lines]
    return charts.timeline([_sample(line) for line in lines], _cuts(compactions, calls), window)


def _sample(line: CallLine) -> Sample:
    call = line.call
    return Sample(
        number=call.number,
        title=line.title,
        tokens_title=line.tokens_title,
        href=line.href,
        occupancy=call.occupancy,
        window=call.window,
        zone=call.zone,
        is_main=not call.thread,
        read=call.cache_read,
        written=call.written_tokens,
        uncached=call.uncached_input,
        note=_note(call),
    )


def _note(call: Call) -> str:
    if call.purpose == Purpose.RECOUNT:
        return ""
    if call.purpose != Purpose.TURN:
        return "summary" if call.purpose == Purpose.COMPACTION else "aux"
    if is_loss(call) and call.missed_tokens >= max(call.cache_read, LEAST_TOKENS):
        return "loss"
    return "agent" if call.thread else ""


def _cuts(compactions: Sequence[Compaction], calls: Sequence[Call]) -> tuple[Cut, ...]:
    """Where the main chain's context was replaced."""
    number = {call.key: call.number for call in calls}
    found: list[Cut] = []
    for compaction in compactions:
        if compaction.thread or not counts(compaction):
            continue
        title = f"compaction {words.word(words.TRIGGERS, compaction.trigger)}"
        place = number.get(compaction.summary_call) or number.get(compaction.next_call)
        if place is None:
            at = compaction.at
            place = next((c.number for c in calls if at and c.started_at >= at), len(calls) + 1)
        href = f"#compaction-{compaction.number}"
        found.append(Cut(place, compaction.summary_call in number, title, href))
    return tuple(found)
