"""Many people at once, each on a connection of their own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from django.db import connection

from ecm_site.common.problems import DomainError
from policy_app.models import AuditEntry, Draft, DraftEdit, Policy, Version
from policy_app.services import auditing, drafting, policies, publishing, tables
from policy_app.services.actors import Actor
from policy_app.services.refusals import StaleRevision
from tests.support.policies import MARA, NOW, ORGANISATION, default_policy, document, draft_of

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = tuple(Actor(200 + n, f"P{n}", ORGANISATION, may_edit=True, may_approve=True) for n in range(20))


def together[T](acts: Sequence[Callable[[], T]]) -> list[T | DomainError]:
    """Run all at the same moment; a refusal is an answer."""
    ready = threading.Barrier(len(acts))

    def one(act: Callable[[], T]) -> T | DomainError:
        try:
            ready.wait(timeout=20)
            return act()
        except DomainError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def codes(answers: Sequence[object]) -> list[str]:
    return sorted(answer.code for answer in answers if isinstance(answer, DomainError))


@pytest.fixture
def policy() -> Policy:
    return default_policy(four_eyes=False)


def test_editors__twenty_save_the_same_revision__one_is_kept_and_nineteen_are_told(policy: Policy) -> None:
    draft = draft_of(policy)
    contents = [document(red=f"0.{60 + n}") for n in range(20) if n != 5]
    people = [who for n, who in enumerate(PEOPLE) if n != 5]
    answers = together(
        [
            partial(drafting.edit, draft=draft, revision=1, content=content, by=who, now=NOW)
            for who, content in zip(people, contents, strict=True)
        ]
    )
    (kept,) = [answer for answer in answers if isinstance(answer, Draft)]
    assert codes(answers) == ["stale_revision"] * 18
    draft.refresh_from_db()
    assert (draft.content, draft.revision, draft.updated_by_name) == (kept.content, 2, kept.updated_by_name)
    assert [edit.digest for edit in draft.edits.order_by("revision")][-1] == tables.digest_of(kept.content)


def test_editors__who_read_again_when_refused__lose_nothing(policy: Policy) -> None:
    draft = draft_of(policy)

    def insist(who: Actor, rule: str) -> int:
        while True:
            now = Draft.objects.get(pk=draft.pk)
            content = tables.document_of(now.content)
            content["rules"].insert(0, {**content["rules"][0], "id": rule, "enabled": False})
            with suppress(StaleRevision):
                return drafting.edit(draft=now, revision=now.revision, content=content, by=who, now=NOW).revision

    answers = together([partial(insist, who, f"by-{who.user_id}") for who in PEOPLE])
    assert sorted(answer for answer in answers if isinstance(answer, int)) == list(range(2, 22))
    draft.refresh_from_db()
    ids = {rule["id"] for rule in tables.document_of(draft.content)["rules"]}
    assert ids >= {f"by-{who.user_id}" for who in PEOPLE}
    assert DraftEdit.objects.filter(draft=draft).count() == 21
    assert AuditEntry.objects.filter(action="draft.edited").count() == 20
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None


def test_publishers__twenty_drafts_on_one_base__one_becomes_the_live_version(policy: Policy) -> None:
    drafts = [draft_of(policy, by=who, critical=f"0.{76 + n}") for n, who in enumerate(PEOPLE) if 76 + n != 90]
    answers = together(
        [partial(publishing.publish, draft=draft, revision=1, reason="now", by=MARA, now=NOW) for draft in drafts]
    )
    (won,) = [answer for answer in answers if isinstance(answer, Version)]
    assert codes(answers) == ["base_moved"] * (len(drafts) - 1)
    assert Version.objects.live(policy.pk) == won
    assert list(Version.objects.filter(policy=policy).order_by("number").values_list("number", flat=True)) == [1, 2]
    assert AuditEntry.objects.filter(action="version.published").count() == 2
    assert auditing.verify_versions(policy_id=policy.pk).broken_at is None


def test_editors_and_publishers__of_one_draft__publish_only_what_is_recorded(policy: Policy) -> None:
    draft = draft_of(policy)

    def save(who: Actor, red: str) -> object:
        return drafting.edit(draft=draft, revision=1, content=document(red=red), by=who, now=NOW)

    def publish(who: Actor) -> object:
        return publishing.publish(draft=draft, revision=1, reason="now", by=who, now=NOW)

    acts: list[Callable[[], object]] = [
        (partial(save, who, f"0.{66 + n // 2}")) if n % 2 else (partial(publish, who)) for n, who in enumerate(PEOPLE)
    ]
    answers = together(acts)
    done = [answer for answer in answers if not isinstance(answer, DomainError)]
    assert len(done) == 1
    assert set(codes(answers)) <= {"stale_revision", "wrong_state"}
    versions = Version.objects.filter(policy=policy).order_by("number")
    for version in versions[1:]:
        assert version.draft is not None
        assert version.draft.edits.filter(digest=version.digest).exists()
    recorded = AuditEntry.objects.filter(action__in=["draft.edited", "version.published"]).count()
    assert recorded == 1 + len(done)
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None


def test_reverts_and_settings__at_once__are_a_line(policy: Policy) -> None:
    draft = draft_of(policy)
    publishing.publish(draft=draft, revision=1, reason="now", by=MARA, now=NOW)
    acts: list[Callable[[], object]] = [
        lambda: publishing.revert(policy=Policy.objects.get(pk=policy.pk), number=1, reason="back", by=MARA, now=NOW)
    ] * 10
    acts += [
        lambda: policies.set_four_eyes(
            policy=Policy.objects.get(pk=policy.pk), wanted=True, reason="two now", by=MARA, now=NOW
        )
    ] * 10
    answers = together(acts)
    assert codes(answers) == ["nothing_changed"] * 9
    assert Version.objects.filter(policy=policy).count() == 3
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None
