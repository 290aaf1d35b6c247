"""Which version is in force where, in memory and across processes; what ships; since when a rule says what it says."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.documents import identity
from policy_app.kernel.evidence_library import LIBRARY
from policy_app.models import Assignment, AuditEntry, Evidence, EvidenceStatus, Policy, ScopeKind, Version
from policy_app.services import assigning, blaming, drafting, evidence, inforce, installing, policies, publishing
from policy_app.services.actors import Actor
from policy_app.services.evidence import Claim
from policy_app.services.inforce import Scope
from policy_app.services.refusals import NoSuch, NotAllowed, Taken
from tests.support.policies import (
    FOREIGNER,
    JO,
    MARA,
    NOW,
    ORGANISATION,
    SAM,
    VIEWER,
    approved,
    default_policy,
    document,
    published,
)

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
TEAM, PROJECT = 5, 9
HERE = Scope(ORGANISATION, TEAM, PROJECT)


@pytest.fixture(autouse=True)
def fresh_memory() -> None:
    inforce.forget(ORGANISATION)


@pytest.fixture
def policy() -> Policy:
    return default_policy()


def number_at(scope: Scope, *, later: timedelta = timedelta()) -> int | None:
    live = inforce.live_table(scope=scope, now=NOW + later)
    return live.number if live else None


def assign(kind: ScopeKind, scope_id: int, policy: Policy | None, by: Actor = MARA, **more: Any) -> Assignment:
    made = assigning.assign(scope_kind=kind, scope_id=scope_id, policy=policy, reason="x", by=by, now=NOW, **more)
    # What a commit does; this test's transaction never commits.
    inforce.forget(ORGANISATION)
    return made


def test_default__at_the_first_start__is_version_one_with_its_evidence(policy: Policy) -> None:
    version = Version.objects.get(policy=policy)
    assert (version.number, version.digest, version.published_by_name) == (1, identity(DEFAULT_TABLE), "installation")
    held = set(Evidence.objects.filter(organisation_id=ORGANISATION).values_list("slug", flat=True))
    assert held == set(LIBRARY)
    assert {slug for rule in DEFAULT_TABLE.rules for slug in rule.evidence} <= held
    assert evidence.mismatches(organisation_id=ORGANISATION, content=version.content) == []


def test_default__at_the_next_start__changes_nothing_that_people_changed(policy: Policy) -> None:
    published(policy)
    held = evidence.named(organisation_id=ORGANISATION, slug="ecm-depth-cap")
    claim = Claim("ecm-depth-cap", "ours", "us", EvidenceStatus.CONFIRMED)
    evidence.change(evidence=held, claim=claim, reason="measured", by=SAM, now=NOW)
    acts = AuditEntry.objects.count()
    installing.ensure_default(organisation_id=ORGANISATION, four_eyes=False, now=NOW)
    assert (AuditEntry.objects.count(), Version.objects.count()) == (acts, 2)
    assert Policy.objects.get(pk=policy.pk).four_eyes
    assert evidence.named(organisation_id=ORGANISATION, slug="ecm-depth-cap").claim == "ours"


def test_live_table__without_assignments__is_the_newest_default(policy: Policy) -> None:
    assert number_at(Scope(404)) is None
    assert number_at(HERE) == 1
    published(policy)
    inforce.forget(ORGANISATION)
    live = inforce.live_table(scope=HERE, now=NOW)
    assert live is not None
    assert (live.number, str(live.table.lines.red), live.policy) == (2, "0.65", "default")


def test_live_table__asked_again__asks_the_database_nothing(policy: Policy) -> None:
    number_at(HERE)
    with CaptureQueriesContext(connection) as queries:
        assert number_at(HERE) == 1
    assert len(queries) == 0


def test_live_table__after_another_process_published__is_renewed_by_the_stamp(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    number_at(HERE)
    # In this transaction nothing commits, so nothing tells this process: as if another one had published.
    published(policy)
    assert number_at(HERE) == 1
    monkeypatch.setattr(inforce, "CHECK_SECONDS", 0.0)
    with CaptureQueriesContext(connection) as queries:
        assert number_at(HERE) == 2
    assert len(queries) == 3
    with CaptureQueriesContext(connection) as queries:
        assert number_at(HERE) == 2
    assert len(queries) == 1


def test_assignment__of_the_narrowest_scope__decides(policy: Policy) -> None:
    published(policy)
    first, second = Version.objects.filter(policy=policy).order_by("number")
    assign(ScopeKind.ORGANISATION, ORGANISATION, policy, version=first)
    assert number_at(HERE) == 1
    assign(ScopeKind.TEAM, TEAM, policy)
    assert (number_at(HERE), number_at(Scope(ORGANISATION, 6))) == (2, 1)
    assign(ScopeKind.PROJECT, PROJECT, policy, version=first)
    assert (number_at(HERE), number_at(Scope(ORGANISATION, TEAM))) == (1, 2)
    assign(ScopeKind.PROJECT, PROJECT, None)
    assert number_at(HERE) == 2
    assert second.number == 2


def test_assignment__for_later__begins_then(policy: Policy) -> None:
    published(policy)
    first = Version.objects.get(policy=policy, number=1)
    assign(ScopeKind.TEAM, TEAM, policy, version=first, from_at=NOW + HOUR)
    assert (number_at(HERE), number_at(HERE, later=HOUR)) == (2, 1)


def test_assignment__by_others_or_of_others__is_refused(policy: Policy) -> None:
    for by in (VIEWER, SAM):
        with pytest.raises(NotAllowed):
            assign(ScopeKind.TEAM, TEAM, policy, by=by)
    with pytest.raises(NoSuch):
        assign(ScopeKind.TEAM, TEAM, policy, by=FOREIGNER)
    other = policies.create(slug="other", name="Other", four_eyes=True, reason="x", by=MARA, now=NOW)
    with pytest.raises(NoSuch):
        assign(ScopeKind.TEAM, TEAM, other, version=Version.objects.get(policy=policy))
    with pytest.raises(IntegrityError, match="assignment_version_of_policy"), transaction.atomic():
        Assignment.objects.create(
            organisation_id=ORGANISATION, scope_kind="team", scope_id=1, version=Version.objects.get(policy=policy),
            from_at=NOW, at=NOW, by_name="x", reason="x",
        )  # fmt: skip


def test_blame__per_rule__names_version_author_and_reason(policy: Policy) -> None:
    content = document()
    content["rules"][3]["reason"] = "Ours."
    draft = drafting.start(policy=policy, title="P4", content=content, by=MARA, now=NOW)
    approved(draft)
    publishing.publish(draft=draft, revision=1, reason="say it shorter", by=JO, now=NOW)
    found = {each.rule: (each.since, each.by, each.reason) for each in blaming.blame(policy=policy)}
    assert found["P4"] == (2, "Jo", "say it shorter")
    assert found["P3"] == (1, "installation", installing.WHY)
    publishing.revert(policy=policy, number=1, reason="no", by=MARA, now=NOW)
    found = {each.rule: (each.since, each.by, each.reason) for each in blaming.blame(policy=policy)}
    assert found["P4"] == (3, "Mara", "no")


def test_argument__for_a_moved_number__no_longer_matches(policy: Policy) -> None:
    version = published(policy, red="0.65")
    found = evidence.mismatches(organisation_id=ORGANISATION, content=version.content)
    assert [(each.subject, each.evidence, each.confirmed, each.now, each.why) for each in found] == [
        ("zones.red", "ecm-mechanical-trigger", "0.75", "0.65", "number_changed")
    ]


def test_evidence__added__is_audited_once_and_by_editors_only(policy: Policy) -> None:
    claim = Claim("ours", "it holds", "our back-test", EvidenceStatus.CONFIRMED, number="63 of 412")
    with pytest.raises(NotAllowed):
        evidence.add(claim=claim, reason="measured", by=VIEWER, now=NOW)
    evidence.add(claim=claim, reason="measured", by=SAM, now=NOW)
    with pytest.raises(Taken):
        evidence.add(claim=claim, reason="measured", by=SAM, now=NOW)
    assert AuditEntry.objects.filter(action="evidence.added", actor_name="Sam", reason="measured").count() == 1
