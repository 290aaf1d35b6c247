"""The judge: at a hook that can act, what the version in force says of what is known, and who hears it.

One row of live state, the session's row and a version in memory; no fold, no broker, no report is waited for.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from policy_app.kernel import messages, quiet
from policy_app.kernel.adherence import ACTS, Adherence
from policy_app.kernel.levers import Addressee
from policy_app.kernel.messages import Telling
from policy_app.kernel.operations import Operation
from policy_app.kernel.quiet import Silence
from policy_app.kernel.zones import Zone
from sessions_app.kernel import trail
from sessions_app.models import Standing, Verdict
from sessions_app.services import situations, verdicts
from sessions_app.services.considering import Considered, Known

#: Hooks at which a verdict is decided, and those at which it is only raised.
DECIDES = frozenset(("SessionStart", "UserPromptSubmit", "Stop"))
RAISES = frozenset(("PostToolUse", "PostToolUseFailure"))
#: Whom the answer to a hook reaches. What is added at Stop would make the model go on.
_BOTH = frozenset({Addressee.MODEL, Addressee.HUMAN})
HEARD: Mapping[str, frozenset[Addressee]] = {
    **dict.fromkeys((*DECIDES, *RAISES), _BOTH),
    "Stop": frozenset({Addressee.HUMAN}),
}


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that waits. `link` is an address with `{}` for a verdict's public id; `drill` holds its lines."""

    event: str
    thread: str
    link: str
    started: float
    source: str = ""
    drill: Mapping[str, int] | None = None


@dataclass(slots=True)
class Said:
    """Texts for the answer, and the verdict that they are of (None where none was given)."""

    to_model: str = ""
    to_human: str = ""
    advice: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """One judgement on its way."""

    hook: Hook
    known: Known
    considered: Considered
    standing: Standing
    now: datetime
    public_id: str = field(default_factory=verdicts.new_id)


def judge(*, hook: Hook, known: Known, considered: Considered | None, standing: Standing, now: datetime) -> Said:
    """Give the verdict of this hook. The caller holds the lock on `standing`, and saves it and the verdict.

    There is none at a tool boundary that does not raise what stands, and where no version is in force.
    """
    if considered is None:
        return Said()
    case = _Case(hook, known, considered, standing, now)
    stands = _standing(case)
    if hook.event in RAISES and not quiet.is_raised(considered.judged.operation, stands):
        return Said()
    heard = HEARD.get(hook.event, frozenset())
    since = considered.found.calls_since_compaction
    silence = quiet.silence(considered.judged, stands, heard=heard, calls_since_compaction=since)
    said = _said(case, heard, silence)
    said.verdict = _verdict(case, said, silence)
    _settle(case, said)
    return said


def may_raise(*, considered: Considered, known: Known) -> bool:
    """Whether it goes further than what stands in the main thread, as far as can be seen without a lock."""
    stands = quiet.Standing(Operation(known.stands or Operation.CONTINUE))
    return quiet.is_raised(considered.judged.operation, stands)


def forget_unheard(*, standing: Standing) -> None:
    """What was answered and never printed (the host had stopped waiting) was not said: it may be said again.

    For prompts and stops, which come one after the other: by then the client has confirmed what it printed.
    """
    if not standing.spoken:
        return
    operation = verdicts.withdraw_unheard(standing.session_id, standing.thread, is_drill=standing.is_drill)
    if operation is not None:
        standing.zone = standing.spoken = ""
        standing.advised_at = None if operation == Operation.COMPACT else standing.advised_at


def _standing(case: _Case) -> quiet.Standing:
    row = case.standing
    since = None
    if row.advised_at is not None:
        since = trail.calls_after(case.considered.found.trail, int(row.advised_at.timestamp() * 1000))
    return quiet.Standing(
        operation=Operation(row.operation),
        zone=Zone(row.zone) if row.zone else None,
        spoken=Operation(row.spoken) if row.spoken else None,
        calls_since_advice=since,
        muted=case.known.session.muted_at is not None,
    )


def _said(case: _Case, heard: frozenset[Addressee], silence: Silence | None) -> Said:
    hook, judged, live = case.hook, case.considered.judged, case.considered.live
    telling = Telling(
        policy=live.policy,
        number=live.number,
        origin=case.known.now.occupancy.origin or "nothing yet",
        link=hook.link.format(case.public_id),
        most_tokens=live.table.limits.injected_artifact_max_tokens,
        pins=case.known.pins,
        has_memory_service=case.known.has_crystalium,
        warns=case.standing.warned_at is None,
        drill=verdicts.drill_lines(hook.drill) if hook.drill else None,
    )
    said = Said(advice=messages.advice(judged, telling))
    if silence is not None:
        return said
    told = frozenset(quiet.hearers(judged.lever, judged.operation)) & heard
    if Addressee.MODEL in told:
        said.to_model = messages.to_model(judged, telling)
    if Addressee.HUMAN in told:
        said.to_human = messages.to_human(judged, telling)
    return said


def _verdict(case: _Case, said: Said, silence: Silence | None) -> Verdict:
    hook, known, considered = case.hook, case.known, case.considered
    judged, live = considered.judged, considered.live
    told = [name for name, text in (("model", said.to_model), ("human", said.to_human)) if text]
    is_followed = bool(told) and judged.operation in ACTS and hook.drill is None
    return Verdict(
        public_id=case.public_id,
        session=known.session,
        thread=hook.thread,
        event=hook.event,
        at=case.now,
        latency_us=min(int((time.perf_counter() - hook.started) * 1e6), (1 << 31) - 1),
        policy=live.policy,
        version_id=live.version_id,
        number=live.number,
        digest=live.digest,
        pins_digest=known.pins_digest,
        drill=dict(hook.drill) if hook.drill else None,
        signals=verdicts.signals_document(considered.signals),
        origins=situations.origins_of(considered.found),
        **verdicts.outcome_document(judged),
        addressees=[str(each) for each in quiet.hearers(judged.lever, judged.operation)],
        said_to=told,
        silence=str(silence or ""),
        to_model=said.to_model,
        to_human=said.to_human,
        injected_tokens=messages.tokens_at_most(said.to_model) if said.to_model else 0,
        adherence=Adherence.PENDING if is_followed else "",
    )


def _settle(case: _Case, said: Said) -> None:
    """What stands now, and what was said."""
    row, judged = case.standing, case.considered.judged
    row.operation = str(judged.operation)
    if said.to_model or said.to_human:
        row.zone, row.spoken = str(judged.zone), str(judged.operation)
        row.messages += 1
        row.injected_tokens += case_tokens(said)
        if judged.operation is Operation.COMPACT:
            row.advised_at = case.now
        if said.to_model and not case.known.has_crystalium:
            row.warned_at = row.warned_at or case.now
    elif judged.zone is Zone.GREEN:
        # Back below every line: the next one that is crossed is news again.
        row.zone, row.spoken = str(judged.zone), ""


def case_tokens(said: Said) -> int:
    """Tokens that the model reads because of this answer, from above."""
    return messages.tokens_at_most(said.to_model) if said.to_model else 0


def digest_of(answer: str) -> str:
    """By which the client says that it printed it."""
    return hashlib.sha256(answer.encode()).hexdigest()
