"""What PostgreSQL refuses by itself, whoever asks: raw statements, as in psql."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from policy_app.models import AuditEntry, Draft, Policy, ScopeKind, Version
from policy_app.services import assigning, auditing, drafting, policies, publishing, reviewing, tables
from tests.support.policies import JO, MARA, NOW, ORGANISATION, approved, default_policy, document, draft_of, published

pytestmark = pytest.mark.django_db


@pytest.fixture
def policy() -> Policy:
    return default_policy()


def run(statement: str, values: Sequence[Any] = ()) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def refused(told: str, statement: str, values: Sequence[Any] = ()) -> None:
    with pytest.raises(IntegrityError, match=told):
        run(statement, values)


@pytest.mark.parametrize("table", ["version", "auditentry", "draftedit", "review", "assignment"])
@pytest.mark.parametrize(
    "statement",
    ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"],
)
def test_kept_rows__changed_deleted_or_truncated_by_sql__are_refused(
    policy: Policy, table: str, statement: str
) -> None:
    published(policy)
    assigning.assign(scope_kind=ScopeKind.TEAM, scope_id=1, policy=policy, reason="pilot", by=MARA, now=NOW)
    # Foreign keys are checked at the end of a transaction; TRUNCATE does not wait for that.
    run("SET CONSTRAINTS ALL IMMEDIATE")
    refused("never changed or deleted", statement.format(f"policy_app_{table}"))


REVIEW = (
    "INSERT INTO policy_app_review (draft_id, revision, verdict, by_id, by_name, reason, at)"
    " VALUES (%s, %s, 'approved', %s, 'x', 'x', now())"
)


def test_approval__inserted_by_sql_for_somebody_who_edited__is_refused(policy: Policy) -> None:
    draft = draft_of(policy)
    reviewing.ask(draft=draft, reason="earlier", by=MARA, now=NOW)
    refused("who edited a draft may not approve it", REVIEW, [draft.pk, 1, MARA.user_id])
    refused("only the newest revision", REVIEW, [draft.pk, 2, JO.user_id])
    refused("null value", REVIEW, [draft.pk, 1, None])
    run(REVIEW, [draft.pk, 1, JO.user_id])


def test_approval__set_by_sql_without_a_review__is_refused(policy: Policy) -> None:
    draft = draft_of(policy)
    refused("has approved this revision", "UPDATE policy_app_draft SET state = 'approved' WHERE id = %s", [draft.pk])
    refused("no version was published", "UPDATE policy_app_draft SET state = 'published' WHERE id = %s", [draft.pk])


def test_content__changed_by_sql_under_an_approval__is_refused_or_voids_it(policy: Policy) -> None:
    draft = approved(draft_of(policy))
    other = tables.canonical_text(document(red="0.7"))
    change = "UPDATE policy_app_draft SET content = %s WHERE id = %s"
    refused("counts the revision up", change, [other, draft.pk])
    run(change.replace("SET", "SET revision = 2, state = 'editing',"), [other, draft.pk])
    run("UPDATE policy_app_draft SET state = 'in_review' WHERE id = %s", [draft.pk])
    refused("nobody is recorded as having made", REVIEW, [draft.pk, 2, JO.user_id])


def test_edit__recorded_for_another_content__is_refused(policy: Policy) -> None:
    draft = draft_of(policy)
    statement = (
        "INSERT INTO policy_app_draftedit (draft_id, revision, by_id, by_name, digest, at)"
        " VALUES (%s, %s, 5, 'x', %s, now())"
    )
    refused("records the revision and the content", statement, [draft.pk, 2, "0" * 64])


def test_draft__deleted_by_sql__is_refused(policy: Policy) -> None:
    draft_of(policy)
    refused("never deleted", "DELETE FROM policy_app_draft")


def insert_version(policy: Policy, **fields: object) -> None:
    live = Version.objects.live(policy.pk)
    content = str(fields.get("content", tables.canonical_text(document(red="0.7"))))
    number = live.number + 1 if live else 1
    digest, previous = tables.digest_of(content), live.chain if live else ""
    row = {
        "policy_id": policy.pk,
        "number": number,
        "content": content,
        "digest": digest,
        "previous_chain": previous,
        "chain": auditing.version_chain(previous, number, digest),
        "draft_id": None,
        "reverts_id": None,
        "four_eyes": False,
        "published_by_name": "x",
        "published_at": NOW,
        "reason": "x",
        **fields,
    }
    columns, marks = ", ".join(row), ", ".join("%s" for _ in row)
    run(f"INSERT INTO policy_app_version ({columns}) VALUES ({marks})", list(row.values()))


def test_version__inserted_by_sql__must_be_what_was_approved(policy: Policy) -> None:
    draft = draft_of(policy)
    first = Version.objects.get(policy=policy, number=1)
    for told, fields in (
        ("version_has_one_origin", {}),
        ("has approved this revision", {"draft_id": draft.pk, "content": draft.content}),
        ("has approved this revision", {"draft_id": draft.pk, "content": draft.content, "four_eyes": True}),
        ("what its open draft holds", {"draft_id": draft.pk}),
        ("brings back the content", {"reverts_id": first.pk}),
        ("digest and chain", {"reverts_id": first.pk, "content": first.content, "digest": "0" * 64}),
        ("without gaps", {"reverts_id": first.pk, "content": first.content, "number": 5}),
        ("without a draft nobody", {"reverts_id": first.pk, "content": first.content, "four_eyes": True}),
    ):
        with pytest.raises(IntegrityError, match=told):
            insert_version(policy, **fields)
    approved(draft)
    insert_version(policy, draft_id=draft.pk, content=draft.content, four_eyes=True)


def test_version__inserted_by_sql_on_a_moved_base__is_refused(policy: Policy) -> None:
    draft = approved(draft_of(policy))
    published(policy, amber="0.4")
    with pytest.raises(IntegrityError, match="on top of the live version"):
        insert_version(policy, draft_id=draft.pk, content=draft.content, four_eyes=True)


def test_audit__inserted_by_sql_out_of_line__is_refused(policy: Policy) -> None:
    last = AuditEntry.objects.order_by("number").last()
    assert last is not None
    statement = (
        "INSERT INTO policy_app_auditentry (organisation_id, number, at, actor_name, action, subject, reason,"
        " evidence, before_digest, after_digest, previous_chain, chain)"
        " VALUES (%s, %s, now(), 'x', 'x', 'x', %s, '{}', '', '', %s, 'x')"
    )
    refused("without gaps", statement, [ORGANISATION, last.number + 2, "x", last.chain])
    refused("without gaps", statement, [ORGANISATION, last.number + 1, "x", "other"])
    refused("audit_has_reason", statement, [ORGANISATION, last.number + 1, "", last.chain])


def test_chain__tampered_with_behind_the_triggers__is_found(policy: Policy) -> None:
    published(policy)
    run("SET CONSTRAINTS ALL IMMEDIATE")
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at is None
    run("ALTER TABLE policy_app_auditentry DISABLE TRIGGER USER")
    run("UPDATE policy_app_auditentry SET reason = 'prettier' WHERE number = 3")
    run("ALTER TABLE policy_app_auditentry ENABLE TRIGGER USER")
    assert auditing.verify_chain(organisation_id=ORGANISATION).broken_at == 3
    run("ALTER TABLE policy_app_version DISABLE TRIGGER USER")
    run("UPDATE policy_app_version SET content = replace(content, '0.65', '0.66') WHERE number = 2")
    run("ALTER TABLE policy_app_version ENABLE TRIGGER USER")
    assert auditing.verify_versions(policy_id=policy.pk).broken_at == 2


def test_user__deleted_after_publishing__leaves_name_and_id(policy: Policy) -> None:
    from django.contrib.auth.models import User

    user = User.objects.create_user("leaver")
    leaver = type(MARA)(user.pk, "leaver", ORGANISATION, may_edit=True, may_approve=True)
    policies.set_four_eyes(policy=policy, wanted=False, reason="alone", by=leaver, now=NOW)
    draft = draft_of(policy, by=leaver)
    publishing.publish(draft=draft, revision=1, reason="go", by=leaver, now=NOW)
    number = user.pk
    user.delete()
    version = Version.objects.get(policy=policy, number=2)
    assert (version.published_by_id, version.published_by_name) == (number, "leaver")
    assert drafting.found(organisation_id=ORGANISATION, draft_id=draft.pk).updated_by_name == "leaver"
    assert Draft.objects.filter(updated_by_id=number).exists()
