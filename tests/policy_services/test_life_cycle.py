"""Draft, review, version: the way through, and every refusal on it."""

from collections.abc import Callable
from functools import partial

import pytest

from ecm_site.common.problems import DomainError
from policy_app.models import AuditEntry, Draft, DraftState, Policy, Version
from policy_app.services import auditing, drafting, policies, publishing, reviewing, tables
from policy_app.services.actors import Actor
from tests.support.policies import (
    FOREIGNER,
    JO,
    KEY,
    MARA,
    NOW,
    ORGANISATION,
    SAM,
    VIEWER,
    approved,
    default_policy,
    document,
    draft_of,
    published,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def policy() -> Policy:
    return default_policy()


def refused(code: str, act: Callable[[], object]) -> DomainError:
    """The refusal of `act`, which leaves nothing behind in the audit log."""
    before = AuditEntry.objects.count()
    with pytest.raises(DomainError) as caught:
        act()
    assert caught.value.code == code
    assert AuditEntry.objects.count() == before
    return caught.value


def changed(error: DomainError) -> list[tuple[object, ...]]:
    """The difference that a refusal tells."""
    diff = error.data["diff"]
    assert isinstance(diff, list)
    return [tuple(each[name] for name in ("subject", "before", "after", "sentence")) for each in diff]


def publish(draft: Draft, *, by: Actor = MARA, revision: int | None = None) -> Version:
    return publishing.publish(draft=draft, revision=revision or draft.revision, reason="agreed", by=by, now=NOW)


def test_life__draft_review_publish__gives_a_new_live_version_and_a_full_log(policy: Policy) -> None:
    draft = draft_of(policy)
    assert (draft.revision, draft.state, draft.base and draft.base.number) == (1, DraftState.EDITING, 1)
    version = publish(approved(draft))
    assert (version.number, version.four_eyes, version.published_by_name) == (2, True, "Mara")
    assert tables.document_of(version.content)["zones"]["red"] == "0.65"
    draft.refresh_from_db()
    assert draft.state == DraftState.PUBLISHED
    assert list(AuditEntry.objects.order_by("number").values_list("action", "actor_name"))[-4:] == [
        ("draft.started", "Mara"),
        ("draft.review_asked", "Mara"),
        ("draft.approved", "Jo"),
        ("version.published", "Mara"),
    ]
    last = AuditEntry.objects.order_by("number").last()
    first = Version.objects.get(policy=policy, number=1)
    assert last is not None
    assert (last.before_digest, last.after_digest, last.reason) == (first.digest, version.digest, "agreed")
    assert "ecm-depth-cap" in last.evidence
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None
    assert auditing.verify_versions(policy_id=policy.pk).broken_at is None


def test_edit__of_an_older_revision__is_refused_with_the_difference(policy: Policy) -> None:
    draft = draft_of(policy)
    drafting.edit(draft=draft, revision=1, content=document(red="0.7"), by=SAM, now=NOW)
    error = refused(
        "stale_revision",
        lambda: drafting.edit(draft=draft, revision=1, content=document(red="0.6"), by=MARA, now=NOW),
    )
    assert error.status == 409
    assert (error.data["revision"], error.data["updated_by"]) == (2, "Sam")
    assert changed(error) == [("zones.red", "0.7", "0.6", "RED from 70% to 60%.")]


def test_edit__saying_the_same__makes_no_revision(policy: Policy) -> None:
    draft = draft_of(policy)
    same = drafting.edit(draft=draft, revision=1, content=document(red="0.650"), by=SAM, now=NOW)
    assert (same.revision, same.updated_by_name) == (1, "Mara")
    assert not draft.edits.filter(by_id=SAM.user_id).exists()


def test_edit__after_approval__voids_it(policy: Policy) -> None:
    draft = approved(draft_of(policy))
    edited = drafting.edit(draft=draft, revision=1, content=document(red="0.7"), by=MARA, now=NOW)
    assert edited.state == DraftState.EDITING
    refused("not_approved", lambda: publish(edited))
    reviewing.ask(draft=edited, reason="lines moved", by=MARA, now=NOW)
    refused("not_approved", lambda: publish(edited))
    refused("stale_revision", lambda: publish(draft, revision=1))


def test_approve__by_somebody_who_edited_once__is_refused(policy: Policy) -> None:
    draft = draft_of(policy, by=SAM)
    draft = drafting.edit(draft=draft, revision=1, content=document(red="0.7"), by=JO, now=NOW)
    draft = drafting.edit(draft=draft, revision=2, content=document(red="0.66"), by=SAM, now=NOW)
    reviewing.ask(draft=draft, reason="earlier", by=SAM, now=NOW)
    assert not reviewing.may_approve(draft=draft, by=JO)
    error = refused("own_edit", lambda: reviewing.approve(draft=draft, revision=3, reason="ok", by=JO, now=NOW))
    assert error.status == 403
    reviewing.approve(draft=draft, revision=3, reason="ok", by=MARA, now=NOW)


def test_approve__by_or_after_a_key__is_refused(policy: Policy) -> None:
    draft = draft_of(policy)
    reviewing.ask(draft=draft, reason="earlier", by=MARA, now=NOW)
    refused("no_person", lambda: reviewing.approve(draft=draft, revision=1, reason="ok", by=KEY, now=NOW))
    keyed = draft_of(policy, by=KEY)
    reviewing.ask(draft=keyed, reason="earlier", by=MARA, now=NOW)
    refused("edited_by_key", lambda: reviewing.approve(draft=keyed, revision=1, reason="ok", by=JO, now=NOW))


def test_approve__of_a_revision_that_is_not_the_newest__is_refused_with_the_difference(policy: Policy) -> None:
    seen = draft_of(policy)
    newer = drafting.edit(draft=seen, revision=1, content=document(red="0.7"), by=MARA, now=NOW)
    reviewing.ask(draft=newer, reason="earlier", by=MARA, now=NOW)
    seen = Draft(pk=seen.pk, policy=policy, content=tables.canonical_text(document(red="0.65")), revision=1)
    error = refused("stale_revision", lambda: reviewing.approve(draft=seen, revision=1, reason="ok", by=JO, now=NOW))
    assert changed(error) == [("zones.red", "0.65", "0.7", "RED from 65% to 70%.")]


def test_reject__with_a_reason__sends_it_back_to_be_edited(policy: Policy) -> None:
    draft = draft_of(policy)
    reviewing.ask(draft=draft, reason="earlier", by=MARA, now=NOW)
    refused("bad_reason", lambda: reviewing.reject(draft=draft, revision=1, reason=" ", by=JO, now=NOW))
    review = reviewing.reject(draft=draft, revision=1, reason="say why 65", by=JO, now=NOW)
    draft.refresh_from_db()
    assert (draft.state, review.reason, review.by_name) == (DraftState.REJECTED, "say why 65", "Jo")
    refused("not_approved", lambda: publish(draft))
    reviewing.ask(draft=draft, reason="because of the back-test", by=MARA, now=NOW)


def test_base__moved_meanwhile__is_refused_until_saved_on_top(policy: Policy) -> None:
    mine, theirs = draft_of(policy), draft_of(policy, amber="0.45")
    reviewing.ask(draft=mine, reason="earlier", by=MARA, now=NOW)
    publish(approved(theirs))
    error = refused("base_moved", lambda: reviewing.approve(draft=mine, revision=1, reason="ok", by=JO, now=NOW))
    assert (error.status, error.data["base"], error.data["live"]) == (409, 1, 2)
    assert changed(error) == [("zones.amber", "0.5", "0.45", "AMBER from 50% to 45%.")]
    both = document(amber="0.45", red="0.65")
    moved = drafting.edit(draft=mine, revision=1, content=both, by=MARA, now=NOW, onto=2)
    assert publish(approved(moved)).number == 3


def test_publish__unapproved__needs_four_eyes_to_be_off_and_says_so(policy: Policy) -> None:
    draft = draft_of(policy)
    refused("not_approved", lambda: publish(draft))
    policies.set_four_eyes(policy=policy, wanted=False, reason="I am alone here", by=MARA, now=NOW)
    version = publish(draft)
    assert not version.four_eyes
    assert AuditEntry.objects.filter(action="policy.four_eyes_off", reason="I am alone here").exists()


def test_publish__of_what_is_live_already__is_refused(policy: Policy) -> None:
    draft = approved(drafting.start(policy=policy, title="Nothing", by=MARA, now=NOW))
    refused("nothing_changed", lambda: publish(draft))


def test_ask__for_a_table_with_a_gap__is_refused_with_a_situation(policy: Policy) -> None:
    content = document()
    content["rules"] = [rule for rule in content["rules"] if rule["id"] != "P7"]
    draft = drafting.start(policy=policy, title="Leaves a gap", content=content, by=MARA, now=NOW)
    error = refused("not_publishable", lambda: reviewing.ask(draft=draft, reason="try", by=MARA, now=NOW))
    findings = error.data["findings"]
    assert isinstance(findings, list)
    assert {finding["code"] for finding in findings} == {"gap"}
    policies.set_four_eyes(policy=policy, wanted=False, reason="alone", by=MARA, now=NOW)
    refused("not_publishable", lambda: publish(draft))


def test_revert__to_version_one__is_a_new_version_with_the_old_content(policy: Policy) -> None:
    published(policy, red="0.65")
    version = publishing.revert(policy=policy, number=1, reason="too many compactions", by=JO, now=NOW)
    first = Version.objects.get(policy=policy, number=1)
    assert (version.number, version.content, version.reverts, version.four_eyes) == (3, first.content, first, False)
    assert Version.objects.live(policy.pk) == version
    refused("nothing_changed", lambda: publishing.revert(policy=policy, number=1, reason="again", by=JO, now=NOW))
    refused("not_found", lambda: publishing.revert(policy=policy, number=9, reason="again", by=JO, now=NOW))


def test_closed_drafts__cannot_be_edited_asked_for_or_published(policy: Policy) -> None:
    gone = draft_of(policy)
    drafting.discard(draft=gone, reason="not worth it", by=MARA, now=NOW)
    done = approved(draft_of(policy))
    publish(done)
    for draft in (gone, done):
        refused(
            "wrong_state",
            partial(drafting.edit, draft=draft, revision=1, content=document(), by=MARA, now=NOW),
        )
        refused("wrong_state", partial(publish, draft))
        refused("wrong_state", partial(reviewing.ask, draft=draft, reason="x", by=MARA, now=NOW))
        refused("wrong_state", partial(drafting.discard, draft=draft, reason="x", by=MARA, now=NOW))


@pytest.mark.parametrize("by", [VIEWER, FOREIGNER])
def test_roles__who_may_neither_edit_nor_decide__is_refused_everywhere(policy: Policy, by: Actor) -> None:
    draft = draft_of(policy)
    refused("not_allowed", lambda: draft_of(policy, by=by))
    refused("not_allowed", lambda: drafting.edit(draft=draft, revision=1, content=document(), by=by, now=NOW))
    refused("not_allowed", lambda: reviewing.ask(draft=draft, reason="x", by=by, now=NOW))
    refused("not_allowed", lambda: reviewing.approve(draft=draft, revision=1, reason="x", by=by, now=NOW))
    refused("not_allowed", lambda: publish(draft, by=by))
    refused("not_allowed", lambda: drafting.discard(draft=draft, reason="x", by=by, now=NOW))
    refused("not_allowed", lambda: publishing.revert(policy=policy, number=1, reason="x", by=by, now=NOW))
    refused("not_allowed", lambda: policies.set_four_eyes(policy=policy, wanted=False, reason="x", by=by, now=NOW))


def test_roles__an_editor__drafts_and_asks_but_does_not_decide(policy: Policy) -> None:
    draft = draft_of(policy, by=SAM)
    reviewing.ask(draft=draft, reason="earlier", by=SAM, now=NOW)
    refused("not_allowed", lambda: reviewing.reject(draft=draft, revision=1, reason="x", by=SAM, now=NOW))
    refused("not_allowed", lambda: publish(draft, by=SAM))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"rules": []}, "out_of_range"),
        ("{", "wrong_type"),
        ('{"rules": [], "rules": []}', "duplicate"),
        ('{"rules": [], "zones": {"amber": NaN}}', "not_a_number"),
        ({"rules": [{"id": "P1", "operation": "guess"}]}, "unknown_name"),
        ("[" * 100_000, "wrong_type"),
    ],
)
def test_start__with_what_is_no_table__names_the_field(policy: Policy, content: object, reason: str) -> None:
    error = refused("bad_table", lambda: drafting.start(policy=policy, title="Bad", content=content, by=MARA, now=NOW))
    assert error.data["reason"] == reason


def test_policy__made_twice__is_refused(policy: Policy) -> None:
    refused(
        "slug_taken",
        lambda: policies.create(slug="default", name="Again", four_eyes=True, reason="x", by=MARA, now=NOW),
    )
