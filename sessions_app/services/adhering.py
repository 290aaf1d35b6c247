"""Whether spoken verdicts were followed: settled after each fold, when calls and acts are known with their times."""

from datetime import datetime

from policy_app.kernel.adherence import Act, Adherence, After, adherence
from policy_app.kernel.operations import Operation
from sessions_app.kernel.after import Acts, acts_after
from sessions_app.kernel.readings import Mark, MarkReading, Purpose, decode
from sessions_app.kernel.times import when
from sessions_app.models import Session, Verdict
from sessions_app.services.store import cursor

_PENDING = f"SELECT FROM sessions_app_verdict WHERE session_id = %b AND adherence = '{Adherence.PENDING}' LIMIT 1"
#: (what, when, number of a call, mark): one statement, as a session asks at each fold until its verdict is settled.
#: Subagents count for the main chain, whose thread has no name.
_ACTS = f"""
    SELECT 'call', started_at, number, NULL FROM sessions_app_call
        WHERE session_id = %(session)b AND thread = %(thread)b AND purpose = '{Purpose.TURN}'
    UNION ALL SELECT CASE kind WHEN 'compaction' THEN 'compacted' ELSE 'cleared' END, at, 0, NULL
        FROM sessions_app_compaction WHERE session_id = %(session)b AND thread = %(thread)b AND at IS NOT NULL
        AND (kind <> 'compaction' OR state = 'completed')
    UNION ALL SELECT 'isolated', first_at, 0, NULL FROM sessions_app_thread
        WHERE session_id = %(session)b AND key <> '' AND %(thread)b = ''
    UNION ALL SELECT 'externalized', NULL, 0, body FROM sessions_app_readingrow
        WHERE session_id = %(session)b AND kind = '{MarkReading.kind}' AND body LIKE '%%"externalize"%%'
    ORDER BY 3, 2
"""  # noqa: S608 - words of ours


def settle(*, session: Session) -> int:
    """Decide what can be decided of a session's pending verdicts; gives how many changed."""
    with cursor() as cur:
        if cur.execute(_PENDING, (session.pk,)).fetchone() is None:
            return 0
    pending = list(Verdict.objects.filter(session=session, adherence=Adherence.PENDING))
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
    moments: dict[str, list[datetime]] = {"call": [], **{str(act): [] for act in Act}}
    with cursor() as cur:
        for what, at, _, body in cur.execute(_ACTS, {"session": session.pk, "thread": thread}):
            moment = at if body is None else _externalized(str(body), thread)
            if isinstance(moment, datetime):
                moments[str(what)].append(moment)
    if session.ended_at is not None:
        moments["ended"].append(session.ended_at)
    return Acts(moments.pop("call"), moments)


def _externalized(body: str, thread: str) -> datetime | None:
    mark = decode(MarkReading.kind, body)
    if not isinstance(mark, MarkReading) or mark.mark is not Mark.EXTERNALIZE or mark.thread[1] != thread:
        return None
    return when(mark.at_ms or mark.received_ms or 0)
