"""Pin sets go the way of tables; what is in force is the base and what is added to it, in memory and by a stamp."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from policy_app.kernel.pin_documents import identity, set_document
from policy_app.kernel.pins import Pin, Source, Tier
from policy_app.kernel.pins_default import DEFAULT_PINS
from policy_app.models import Assignment, AuditEntry, Policy, PolicyKind, ScopeKind, SuppliedPin, Version
from policy_app.services import (
    assigning,
    auditing,
    blaming,
    drafting,
    inforce,
    installing,
    pinning,
    policies,
    publishing,
    reviewing,
    supplying,
    tables,
)
from policy_app.services.inforce import Scope
from policy_app.services.pinning import LivePins
from policy_app.services.refusals import BadPins, NothingChanged, NotPublishable, OwnEdit
from tests.support.policies import JO, MARA, NOW, ORGANISATION, approved, default_policy

pytestmark = pytest.mark.django_db

TEAM, PROJECT, KEY = 5, 9, "claude-code/abc"
HERE = Scope(ORGANISATION, TEAM, PROJECT)


@pytest.fixture(autouse=True)
def fresh_memory() -> Iterator[None]:
    inforce.forget(ORGANISATION)
    yield
    inforce.forget(ORGANISATION)


@pytest.fixture
def base() -> Policy:
    return installing.ensure_pins(organisation_id=ORGANISATION, four_eyes=True, now=NOW)


def pin(name: str, text: str = "ours", **more: str) -> dict[str, str]:
    return {"id": name, "text": text, "why": "because", **more}


def with_pins(*pins: dict[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = set_document(DEFAULT_PINS)
    return {**document, "pins": [*document["pins"], *pins]}


def published(policy: Policy, content: object) -> Version:
    draft = approved(drafting.start(policy=policy, title="More pins", content=content, by=MARA, now=NOW))
    version = publishing.publish(draft=draft, revision=draft.revision, reason="agreed", by=MARA, now=NOW)
    inforce.forget(ORGANISATION)
    return version


def set_of_team(slug: str, scope: ScopeKind, scope_id: int, *pins: dict[str, str]) -> Policy:
    made = policies.create(
        slug=slug, name=slug, four_eyes=True, reason="x", by=MARA, now=NOW, kind=PolicyKind.PINS
    )  # fmt: skip
    published(made, {"pins": list(pins)})
    assigning.assign(scope_kind=scope, scope_id=scope_id, policy=made, reason="x", by=MARA, now=NOW)
    inforce.forget(ORGANISATION)
    return made


def live(scope: Scope = HERE, session_key: str | None = KEY) -> LivePins:
    found = pinning.live_pins(scope=scope, session_key=session_key, now=NOW)
    assert found is not None
    return found


def supplied(name: str, text: str, tier: Tier = Tier.T1) -> Pin:
    return Pin(name, text, "because", tier, Source.CLIENT)


def supply(
    *pins: Pin, key: str | None = KEY, scope: Scope = HERE, withdrawn: tuple[str, ...] = (), now: Any = NOW
) -> None:
    supplying.supply(scope=scope, session_key=key, pins=pins, withdrawn=withdrawn, by_name="key 1", now=now)


def test_default_set__at_the_first_start__is_version_one_and_stays(base: Policy) -> None:
    version = Version.objects.get(policy=base)
    assert (version.number, version.digest, version.reason) == (1, identity(DEFAULT_PINS), installing.PINS_WHY)
    acts = AuditEntry.objects.count()
    installing.ensure_pins(organisation_id=ORGANISATION, four_eyes=False, now=NOW)
    assert (AuditEntry.objects.count(), Version.objects.count()) == (acts, 1)
    assert set(AuditEntry.objects.values_list("subject", flat=True)) == {"pins/default", "pins/default/version/1"}


def test_pin_set__from_draft_to_version__is_reviewed_by_another_and_names_its_authors(base: Policy) -> None:
    draft = drafting.start(policy=base, title="Units", content=with_pins(pin("units")), by=MARA, now=NOW)
    reviewing.ask(draft=draft, reason="lost twice", by=MARA, now=NOW)
    with pytest.raises(OwnEdit):
        reviewing.approve(draft=draft, revision=1, reason="fine", by=MARA, now=NOW)
    reviewing.approve(draft=draft, revision=1, reason="fine", by=JO, now=NOW)
    draft.refresh_from_db()
    version = publishing.publish(draft=draft, revision=1, reason="agreed", by=MARA, now=NOW)
    assert (version.number, version.four_eyes) == (2, True)
    found = {each.rule: (each.since, each.by, each.reason) for each in blaming.blame(policy=base)}
    assert found["units"] == (2, "Mara", "agreed")
    assert found["exact_specifics"] == (1, "installation", installing.PINS_WHY)
    again = publishing.revert(policy=base, number=1, reason="no", by=JO, now=NOW)
    assert again.content == Version.objects.get(policy=base, number=1).content
    assert auditing.verify_versions(policy_id=base.pk).broken_at is None
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None


def test_pin_set__of_foreign_content_or_too_long__is_refused(base: Policy) -> None:
    with pytest.raises(BadPins) as caught:
        drafting.start(policy=base, title="x", content=with_pins(pin("a", tier="T3")), by=MARA, now=NOW)
    assert (caught.value.data["reason"], caught.value.data["field"]) == ("foreign_content", "pins[7].tier")
    with pytest.raises(BadPins):
        drafting.start(policy=base, title="x", content="{", by=MARA, now=NOW)
    big = with_pins(*(pin(f"p{number}", "x" * 2_000) for number in range(5)))
    draft = drafting.start(policy=base, title="x", content=big, by=MARA, now=NOW)
    with pytest.raises(NotPublishable):
        reviewing.ask(draft=draft, reason="x", by=MARA, now=NOW)
    with pytest.raises(NothingChanged):
        publishing.revert(policy=base, number=1, reason="x", by=MARA, now=NOW)


def test_kinds__with_one_slug__do_not_meet(base: Policy) -> None:
    table = default_policy()
    assert (table.slug, base.slug) == ("default", "default")
    assert policies.named(organisation_id=ORGANISATION, slug="default") == table
    assert policies.named(organisation_id=ORGANISATION, slug="default", kind=PolicyKind.PINS) == base
    assigning.assign(scope_kind=ScopeKind.TEAM, scope_id=TEAM, policy=base, reason="x", by=MARA, now=NOW)
    inforce.forget(ORGANISATION)
    found = inforce.live_table(scope=HERE, now=NOW)
    assert found is not None
    assert found.version_id == Version.objects.get(policy=table).pk


def test_live_pins__of_team_and_project__add_to_the_base_and_never_reword_it(base: Policy) -> None:
    assert pinning.live_pins(scope=Scope(404), session_key=None, now=NOW) is None
    alone = live()
    assert [each.id for each in alone.pins] == [each.id for each in DEFAULT_PINS.pins]
    set_of_team("backend", ScopeKind.TEAM, TEAM, pin("units"), pin("exact_specifics", "nothing matters"))
    set_of_team("shop", ScopeKind.PROJECT, PROJECT, pin("units", "theirs"), pin("currency", "euro"))
    found = live()
    assert [each.id for each in found.pins] == [*(each.id for each in alone.pins), "units", "currency"]
    texts = {each.id: each.text for each in found.pins}
    assert (texts["units"], texts["currency"]) == ("ours", "euro")
    assert "nothing matters" not in found.restore_text
    assert found.restore_text.startswith("Pinned context (ECM, pin set default v1 + backend v1 + shop v1)")
    assert (found.slug, found.number, found.digest != alone.digest) == ("default", 1, True)
    assert [each.id for each in live(Scope(ORGANISATION, 6)).pins] == [each.id for each in alone.pins]


def test_live_pins__while_fresh__cost_one_query_for_what_clients_say(base: Policy, monkeypatch: Any) -> None:
    live()
    with CaptureQueriesContext(connection) as queries:
        live()
    assert len(queries) == 1
    with CaptureQueriesContext(connection) as queries:
        live(Scope(ORGANISATION, TEAM), None)
    assert len(queries) == 0
    before = live().number
    draft = approved(drafting.start(policy=base, title="x", content=with_pins(pin("units")), by=MARA, now=NOW))
    publishing.publish(draft=draft, revision=1, reason="x", by=MARA, now=NOW)
    # Nothing commits in this test's transaction, so nothing tells this process: as if another one had published.
    assert live().number == before
    monkeypatch.setattr(inforce, "CHECK_SECONDS", 0.0)
    assert live().number == before + 1


def test_supplied_pins__of_a_session__fill_and_add_and_are_taken_back(base: Policy) -> None:
    before = live()
    supply(supplied("active_plan_step_and_criteria_sha256", "step 4 of 9, 3f2a"), supplied("branch", "feature/x"))
    supply(supplied("branch", "main"), supplied("currency", "euro"), key=None)
    texts = {each.id: each.text for each in live().pins}
    assert texts["active_plan_step_and_criteria_sha256"] == "step 4 of 9, 3f2a"
    assert (texts["branch"], texts["currency"]) == ("feature/x", "euro")
    assert {each.id: each.text for each in live(session_key="claude-code/other").pins}["branch"] == "main"
    assert "branch" not in {each.id for each in live(Scope(ORGANISATION, 6, PROJECT)).pins}
    supply(supplied("branch", "feature/y"))
    assert "feature/y" in live().restore_text
    supply(withdrawn=("branch", "active_plan_step_and_criteria_sha256"))
    supply(key=None, withdrawn=("branch", "currency"))
    assert live() == before


def test_supplied_pins__that_the_set_says_itself_or_too_many__are_refused(base: Policy) -> None:
    with pytest.raises(supplying.NotOpen):
        supply(supplied("branch", "x"), supplied("exact_specifics", "they do not matter"))
    assert not SuppliedPin.objects.exists()
    supply(*(supplied(f"p{number}", "x") for number in range(supplying.MOST_SUPPLIED)))
    with pytest.raises(supplying.TooManyPins), transaction.atomic():
        supply(supplied("one-more", "x"))
    assert SuppliedPin.objects.count() == supplying.MOST_SUPPLIED
    for key, scope in ((None, Scope(ORGANISATION, TEAM)), (KEY, Scope(ORGANISATION))):
        with pytest.raises(supplying.NoTarget):
            supply(supplied("x", "x"), key=key, scope=scope)


def test_supplied_pins__of_a_session_that_ended_long_ago__are_forgotten(base: Policy) -> None:
    supply(supplied("old", "x"), key="claude-code/old")
    supply(supplied("kept", "x"), key=None)
    supply(supplied("new", "x"), now=NOW + supplying.KEPT + timedelta(seconds=1))
    assert set(SuppliedPin.objects.values_list("pin_id", flat=True)) == {"kept", "new"}


def refused(told: str, statement: str, *values: str | int) -> None:
    with pytest.raises(IntegrityError, match=told), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_pin_sets__by_sql__keep_kind_and_tier(base: Policy) -> None:
    table = default_policy()
    refused("stays of its kind", "UPDATE policy_app_policy SET kind = 'table' WHERE id = %s", base.pk)
    with pytest.raises(IntegrityError, match="of its policy's kind"), transaction.atomic():
        Assignment.objects.create(
            kind=PolicyKind.PINS, organisation_id=ORGANISATION, scope_kind="team", scope_id=1, policy=table,
            from_at=NOW, at=NOW, by_name="x", reason="x",
        )  # fmt: skip
    other = policies.create(
        slug="other", name="x", four_eyes=False, reason="x", by=MARA, now=NOW, kind=PolicyKind.PINS
    )  # fmt: skip
    content = '{"format":"ecm-pins/1","pins":[{"id":"a","source":"admin","text":"b","tier":"T3","why":"c"}]}'
    digest = tables.digest_of(content)
    refused(
        "content from outside never becomes a pin",
        "INSERT INTO policy_app_version (policy_id, number, content, digest, previous_chain, chain, four_eyes,"
        " published_by_name, published_at, reason) VALUES (%s, 1, %s, %s, '', %s, false, 'x', now(), 'x')",
        other.pk, content, digest, auditing.version_chain("", 1, digest),
    )  # fmt: skip
    refused(
        "supplied_pin_tier",
        "INSERT INTO policy_app_suppliedpin (team_id, session_key, pin_id, text, why, tier, by_name, at)"
        " VALUES (1, 'x', 'a', 'b', 'c', 'T3', 'x', now())",
    )
    refused("never changed or deleted", "UPDATE policy_app_version SET content = '{}' WHERE policy_id = %s", base.pk)
