"""Whether spoken verdicts were followed: settled after each fold, when calls and acts are known with their times."""

from datetime import datetime

from policy_app.kernel.adherence import Act, Adherence, After, adherence
from policy_app.kernel.operations import Operation
from sessions_app.kernel.after import Acts, acts_after
from sessions_app.kernel.readings import Mark, MarkReading, Purpose, decode
from sessions_app.kernel.times import when
from sessions_app.models import Call, Compaction, ReadingRow, Session, Verdict


def settle(*, session: Session) -> int:
    """Decide what can be decided of a session's pending verdicts; gives how many changed."""
    pending = list(Verdict.objects.filter(session=session, adherence=Adherence.PENDING))
    if not pending:
        return 0
    changed = []
    for thread in {verdict.thread for verdict in pending}:
        acts = _acts(session, thread)
        for verdict in (each for each in pending if each.thread == thread):
            calls, done = acts_after(acts, verdict.at)
            after = After(calls, {Act(name): count for name, count in done.items()})
            outcome, verdict.adherence_calls = adherence(Operation(verdict.operation), after)
            if outcome is not Adherence.PENDING:
                verdict.adherence = str(outcome)
                changed.append(verdict)
    Verdict.objects.bulk_update(changed, ["adherence", "adherence_calls"])
    return len(changed)


def _acts(session: Session, thread: str) -> Acts:
    calls = Call.objects.filter(session=session, thread=thread, purpose=Purpose.TURN).order_by("number")
    compactions = Compaction.objects.filter(session=session, thread=thread, at__isnull=False)
    done: dict[str, list[datetime | None]] = {
        "compacted": list(compactions.filter(kind="compaction", state="completed").values_list("at", flat=True)),
        "cleared": list(compactions.exclude(kind="compaction").values_list("at", flat=True)),
        "externalized": [*_externalized(session, thread)],
        "isolated": [*_agents(session, thread)],
        "ended": [session.ended_at],
    }
    return Acts(list(calls.values_list("started_at", flat=True)), {k: [at for at in v if at] for k, v in done.items()})


def _externalized(session: Session, thread: str) -> list[datetime]:
    bodies = ReadingRow.objects.filter(session=session, kind=MarkReading.kind, body__contains='"externalize"')
    marks = [decode(MarkReading.kind, body) for body in bodies.values_list("body", flat=True)]
    return [
        when(mark.at_ms or mark.received_ms or 0)
        for mark in marks
        if isinstance(mark, MarkReading) and mark.mark is Mark.EXTERNALIZE and mark.thread[1] == thread
    ]


def _agents(session: Session, thread: str) -> list[datetime]:
    """When subagents of the main chain began."""
    rows = session.thread_rows.exclude(key="") if not thread else session.thread_rows.none()
    return list(rows.values_list("first_at", flat=True))
