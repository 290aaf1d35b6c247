"""Actors, tables and policies for tests."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.documents import table_document
from policy_app.models import Draft, Policy, Version
from policy_app.services import drafting, installing, publishing, reviewing
from policy_app.services.actors import Actor

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
ORGANISATION = 77

MARA = Actor(101, "Mara", ORGANISATION, may_edit=True, may_approve=True)
JO = Actor(102, "Jo", ORGANISATION, may_edit=True, may_approve=True)
SAM = Actor(103, "Sam", ORGANISATION, may_edit=True, may_approve=False)
VIEWER = Actor(104, "Vic", ORGANISATION)
KEY = Actor(None, "key ecma_1", ORGANISATION, may_edit=True, may_approve=True)
FOREIGNER = Actor(105, "Fay", 78, may_edit=True, may_approve=True)


def default_policy(*, four_eyes: bool = True, organisation_id: int = ORGANISATION) -> Policy:
    """The policy `default` with version 1."""
    return installing.ensure_default(organisation_id=organisation_id, four_eyes=four_eyes, now=NOW)


def document(**zones: str) -> dict[str, Any]:
    """The default table with other zone lines."""
    made: dict[str, Any] = deepcopy(table_document(DEFAULT_TABLE))
    made["zones"].update(zones)
    return made


def draft_of(policy: Policy, *, by: Actor = MARA, **zones: str) -> Draft:
    """A draft with other lines (RED at 65% where none are given)."""
    content = document(**(zones or {"red": "0.65"}))
    return drafting.start(policy=policy, title="Compact earlier", content=content, by=by, now=NOW)


def approved(draft: Draft, *, by: Actor = JO) -> Draft:
    """The draft after review."""
    reviewing.ask(draft=draft, reason="fewer late compactions", by=MARA, now=NOW)
    reviewing.approve(draft=draft, revision=draft.revision, reason="reads well", by=by, now=NOW)
    draft.refresh_from_db()
    return draft


def published(policy: Policy, **zones: str) -> Version:
    """One more version, drafted by Mara and approved by Jo."""
    draft = approved(draft_of(policy, by=MARA, **zones))
    return publishing.publish(draft=draft, revision=draft.revision, reason="agreed", by=MARA, now=NOW)
