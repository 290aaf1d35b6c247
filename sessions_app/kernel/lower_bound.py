"""Why the sums of a session may be smaller than the bill: each reason with its number."""

from collections.abc import Iterable, Sequence
from typing import Any

from sessions_app.kernel.facts import CallFact, CompactionFact, SlotFact
from sessions_app.kernel.readings import Mark, MarkReading, Reading

MESSAGES = {
    "compaction_call_unseen": "the compaction's own call is in no record that arrived (transcripts do not hold it)",
    "output_partial": "the last line of the response was written before it ended; its output is a placeholder",
    "call_uncounted": "the host says that a call was made and not what it used (a title's, or without usage)",
    "input_unseen": "of these calls the host told the output alone; what went in is in no record that arrived",
    "rolled_up": "the host told these calls as a sum when it ended: tokens count, a price needs each call",
}


def reasons(
    calls: Sequence[CallFact],
    compactions: Sequence[CompactionFact],
    readings: Iterable[Reading],
    rest: Sequence[SlotFact],
) -> list[dict[str, Any]]:
    """The reasons that hold; `compactions` are the completed ones, `rest` what was told as sums alone."""
    blind = sum(1 for c in calls if "input_unseen" in c.flags)
    counts = {
        "compaction_call_unseen": sum(1 for c in compactions if not c.summary_call),
        "output_partial": sum(1 for c in calls if "output_partial" in c.flags),
        "call_uncounted": len({r.key for r in readings if isinstance(r, MarkReading) and r.mark is Mark.UNSEEN_CALL}),
        "input_unseen": 0 if rest else blind,
        "rolled_up": blind + sum(slot.calls for slot in rest) if rest else 0,
    }
    return [{"code": code, "count": n, "message": MESSAGES[code]} for code, n in counts.items() if n]
