"""A draft as its reviewers read it: what changes, what speaks against it, and who may do what."""

from dataclasses import dataclass
from datetime import datetime

from policy_app.console.pins_page import Preview, draft_preview
from policy_app.console.places import Places, places_of
from policy_app.console.policy_pages import sentences
from policy_app.kernel.findings import Finding, Severity
from policy_app.models import OPEN_STATES, Draft, DraftEdit, DraftState, Review, Version
from policy_app.services import tables
from policy_app.services.actors import Actor
from policy_app.services.findings import findings_of

_STATE_WORDS = {
    DraftState.EDITING: "nobody has asked for a review of this revision yet",
    DraftState.IN_REVIEW: "it is in review",
    DraftState.APPROVED: "this revision is approved already",
    DraftState.REJECTED: "it was sent back, and nobody has asked for a review again",
    DraftState.DISCARDED: "it was discarded",
    DraftState.PUBLISHED: "it is published",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a service refused: its words, the status, what was typed, and a difference in sentences."""

    message: str
    status: int
    typed: str = ""
    changes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed:
    """For each act an empty text, or why this reader cannot do it now."""

    ask: str
    comment: str
    approve: str
    send_back: str
    publish: str
    discard: str


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """All that the template shows; `moved` is the live version where it is not the draft's base."""

    now: datetime
    actor: Actor
    draft: Draft
    state: str
    changes: tuple[str, ...]
    new_findings: tuple[Finding, ...]
    gone_findings: tuple[Finding, ...]
    kept_findings: tuple[Finding, ...]
    digest: str
    editors: tuple[str, ...]
    reviews: tuple[Review, ...]
    stands: bool
    moved: Version | None
    moved_changes: tuple[str, ...]
    allowed: Allowed
    refusal: Refusal | None
    places: Places
    preview: Preview | None


def review_page(draft: Draft, actor: Actor, now: datetime, refusal: Refusal | None = None) -> ReviewPage:
    """The page of one draft for one reader."""
    base, live = draft.base, Version.objects.live(draft.policy_id)
    findings = _findings(draft, draft.content, now)
    before = _findings(draft, base.content, now) if base else ()
    edits = list(draft.edits.order_by("revision"))
    moved = live if live != base and draft.state in OPEN_STATES else None
    return ReviewPage(
        now=now,
        actor=actor,
        draft=draft,
        state=_STATE_WORDS[DraftState(draft.state)],
        changes=sentences(draft.policy, base.content, draft.content) if base else (),
        new_findings=tuple(each for each in findings if each not in before),
        gone_findings=tuple(each for each in before if each not in findings),
        kept_findings=tuple(each for each in findings if each in before),
        digest=tables.digest_of(draft.content),
        editors=tuple(dict.fromkeys(each.by_name for each in edits)),
        reviews=tuple(draft.reviews.order_by("-pk")),
        stands=live is not None and live == base,
        moved=moved,
        moved_changes=sentences(draft.policy, base.content, moved.content) if base and moved else (),
        allowed=_allowed(draft, actor, edits, findings, moved),
        refusal=refusal,
        places=places_of(draft.policy),
        preview=draft_preview(draft),
    )


def _findings(draft: Draft, content: str, now: datetime) -> tuple[Finding, ...]:
    return findings_of(policy=draft.policy, content=content, now=now)


def _allowed(
    draft: Draft, actor: Actor, edits: list[DraftEdit], findings: tuple[Finding, ...], moved: Version | None
) -> Allowed:
    """The services decide; this says beforehand, and in words, what they would say."""
    state = DraftState(draft.state)
    as_editor = "" if actor.may_edit else "This needs the role of an editor."
    as_approver = "" if actor.may_approve else "This needs an administrator of the whole organisation."
    is_open = "" if state in OPEN_STATES else f"Not any more: {_STATE_WORDS[state]}."
    in_review = "" if state is DraftState.IN_REVIEW else f"Not now: {_STATE_WORDS[state]}."
    asked = f"Not now: {_STATE_WORDS[state]}." if state in (DraftState.IN_REVIEW, DraftState.APPROVED) else ""
    base = f"Version {moved.number} was published meanwhile: save the draft on top of it first." if moved else ""
    blocked = any(each.severity is Severity.BLOCKS for each in findings)
    sound = "A finding blocks it; see below." if blocked else ""
    return Allowed(
        ask=as_editor or is_open or asked or base or sound,
        comment=is_open,
        approve=as_approver or in_review or _own(actor, edits) or base,
        send_back=as_approver or in_review,
        publish=as_approver or is_open or base or sound or _unapproved(draft, state) or _same(draft),
        discard=as_editor or is_open,
    )


def _own(actor: Actor, edits: list[DraftEdit]) -> str:
    mine = [each.revision for each in edits if each.by_id == actor.user_id]
    if mine:
        return f"You edited this draft (revision {mine[-1]}): you may comment or send it back, not approve it."
    if any(each.by_id is None for each in edits):
        return "It was edited through a key, so nobody can show not to have edited it."
    return ""


def _unapproved(draft: Draft, state: DraftState) -> str:
    if draft.policy.four_eyes and state is not DraftState.APPROVED:
        return "Nobody who did not edit it has approved this revision yet."
    return ""


def _same(draft: Draft) -> str:
    is_same = draft.base is not None and draft.base.content == draft.content
    return "It says the same as the version in force." if is_same else ""
