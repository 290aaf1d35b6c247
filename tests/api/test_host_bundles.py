"""Bundles of the client for Codex and Copilot: usage first, then the hook that waits; what is known now comes back."""

import json

import pytest
from django.test import Client

from sessions_app.models import KeyKind, Organisation, Session, Team
from sessions_app.services import keys
from tests.support import codex, copilot
from tests.support.deliveries import NOW, Delivery, fold_everything


@pytest.mark.parametrize(
    ("slug", "session", "body", "window"),
    [("codex", codex.STORY_ID, codex.rollout(), 258_400), ("copilot", copilot.STORY_ID, copilot.events(), 168_000)],
)
def test_bundle__lines_and_a_hook__four_calls_and_what_is_known_now(
    slug: str, session: str, body: Delivery, window: int, db: None
) -> None:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    team = Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW)
    _, key = keys.issue(kind=KeyKind.INGEST, now=NOW, team=team)
    lines = [{**json.loads(text), "session_id": session} for text in body.body.splitlines()[3:]]
    hook = {"session_id": session, "sessionId": session, "hook_event_name": "Stop", "cwd": "/home/dev/acme-api"}
    bundle = {"session_id": session, "lines": lines, "hooks": [{"received_at": 1_796_081_200, "payload": hook}]}
    answer = Client().post(
        f"/api/v1/bundles/{slug}", bundle, content_type="application/json", headers={"Authorization": f"Bearer {key}"}
    )
    told = answer.json()
    assert answer.status_code == 200
    assert [told["receipts"][name]["refused"] for name in ("lines", "hooks")] == [[], []]
    fold_everything()
    found = Session.objects.get()
    assert (found.host, found.calls, told["live"]["window"]["value"]) == (slug, 4, window)
