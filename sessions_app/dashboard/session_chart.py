"""The timeline of a session, from its rows."""

from collections.abc import Sequence
from itertools import pairwise

from ecm_site.common import figures
from sessions_app.dashboard import charts, words
from sessions_app.dashboard.call_lines import CallLine
from sessions_app.dashboard.compaction_cards import counts
from sessions_app.dashboard.findings import LEAST_TOKENS
from sessions_app.dashboard.losses import is_loss
from sessions_app.dashboard.shapes import Cut, Sample, Timeline
from sessions_app.kernel.mechanisms import TTL_1H_SECONDS, TTL_5M_SECONDS
from sessions_app.kernel.readings import Purpose
from sessions_app.models import Call, Compaction


def timeline_of(lines: Sequence[CallLine], compactions: Sequence[Compaction], window: int | None) -> Timeline:
    """The chart; `window` is that of the newest call."""
    calls = [line.call for line in lines]
    pauses = _pauses(calls)
    samples = [_sample(line, pauses.get(line.call.number)) for line in lines]
    return charts.timeline(samples, _cuts(compactions, calls), window)


def _pauses(calls: Sequence[Call]) -> dict[int, tuple[str, bool]]:
    """{number: (the pause of the main chain before it in words, whether the cache was cold by then)}."""
    found: dict[int, tuple[str, bool]] = {}
    main = [call for call in calls if not call.thread and call.purpose == Purpose.TURN]
    for before, call in pairwise(main):
        seconds = (call.started_at - (before.ended_at or before.started_at)).total_seconds()
        if seconds <= TTL_5M_SECONDS:
            continue
        lives = TTL_1H_SECONDS if before.cache_write_1h else TTL_5M_SECONDS
        is_cold = seconds > lives
        kept = f"{'longer than' if is_cold else 'within'} the {lives // 60} minutes that the cache lives"
        found[call.number] = (f"{figures.duration(seconds)} without a call before call {call.number}: {kept}", is_cold)
    return found


def _sample(line: CallLine, paused: tuple[str, bool] | None) -> Sample:
    call = line.call
    pause, is_cold = paused or ("", False)
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
        lane=line.thread if call.thread else "",
        pause=pause,
        is_cold=is_cold,
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
