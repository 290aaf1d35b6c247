"""Text that a client or a person sends, through real doors: no page, file or answer makes anything of it but text."""

import csv
import html
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from policy_app.models import Draft
from sessions_app.models import Session
from tests.support import told
from tests.support.deliveries import fold_everything
from tests.support.every_page import ROLE, furnished
from tests.support.world import World, build
from tests.web.pages import client_of

#: A formula for a spreadsheet and an element that would run: what models, tools, branches and ids may hold at most;
#: with an end of an attribute, which the doors take for most fields; and what people may write.
BARE = "=1+1<script>alert(7)"
QUOTED = "=1+1\"'><script>alert(7);{{7|add:7}}"
SPOKEN = '=1+1"> <img src=x onerror=alert(7)> <script>alert(8)</script> {{7|add:7}}'
TEXTS = pytest.mark.parametrize("text", [BARE, QUOTED, SPOKEN], ids=["bare", "quoted", "spoken"])
#: Where a client may say a name of its own, some page must show it, or this test tests nothing.
SHOWN_ON = {"", "sessions/", "tables/", "sources/", "context/", "compactions/", "cache/", "prices/"}


class Elements(HTMLParser):
    """Whatever of a page would act."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Ours are scripts from our own files; images and handlers are nobody's."""
        given = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "base") or any(name.startswith("on") for name in given):
            self.found.append(self.get_starttag_text() or tag)
        if tag == "script" and not (given.get("src") or "").startswith("/static/"):
            self.found.append(self.get_starttag_text() or tag)
        if (given.get("href") or "").strip().lower().startswith(("javascript:", "data:")):
            self.found.append(self.get_starttag_text() or tag)


def acts(markup: str) -> list[str]:
    """Elements that would act."""
    reader = Elements()
    reader.feed(markup)
    return reader.found


def post(world: World, address: str, body: Any, key: str = "ingest_key") -> Any:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {world.secrets[key]}"}
    answer = Client().post(address, text, content_type="application/json", headers=headers)
    assert answer.status_code < 500, answer.content
    return answer


def told_by_machines(world: World, text: str) -> None:
    """The text in every field that a client can fill in, through each door."""
    named = dict.fromkeys(("project", "branch", "developer", "version", "model", "session"), text)
    usage = {"uncached_input": 10, "cache_read": 5, "output": 3, "started_at": told.at(0)}
    records = [
        {"type": "session", "host": "claude-code", "entrypoint": text, **named},
        {"type": "call", "host": "claude-code", "message_id": text, "thread": text, **named, **usage},
        {"type": "tool", "host": "claude-code", "tool_use_id": text, "tool_name": text, "result_bytes": 9, **named},
        {"type": "compaction", "host": "claude-code", "id": text, "trigger": text, "at": told.at(5), **named},
        {"type": "externalize", "host": "claude-code", "id": text, "sink": text, "at": told.at(6), **named},
    ]
    for record in records:
        post(world, "/api/v1/ingest", [record])
    seat: dict[str, Any] = {"cwd": f"/home/me/{text}", "gitBranch": text, "version": text, "model": text}
    line = told.call("canary", "msg_1", 0, told.usage(100, written=40_000, out=10), agentId=text, **seat)
    line["message"]["content"].append({"type": "tool_use", "id": text, "name": text, "input": {"path": text}})
    post(world, "/api/v1/transcripts/claude-code", told.transcript(told.asked("canary", -1, **seat), line).body)
    for event in ("SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "PreCompact", "Stop"):
        fields = {**seat, "tool_name": text, "tool_use_id": text, "source": text, "trigger": text, "prompt": text}
        post(world, "/api/v1/hooks/claude-code", told.hook("canary", event, **fields, agent_type=text).body)
    record = told.request(
        "canary", 3, told.usage(9, out=1), model=text, **{"user.email": text, "agent.name": text, "tool_name": text}
    )
    post(world, "/otlp/v1/logs", told.logs(record).body.replace(b"2.1.197", json.dumps(text)[1:-1].encode()))
    gauge = {
        "session_id": "canary",
        "version": text,
        "session_name": text,
        "model": {"id": text, "display_name": text},
        "workspace": {"current_dir": f"/{text}", "project_dir": f"/{text}"},
        "context_window": {"total_input_tokens": 9, "context_window_size": 200_000, "used_percentage": 1},
    }
    post(world, "/api/v1/statusline/claude-code", gauge)
    pin = {"id": "canary", "text": text, "why": text, "tier": "T0"}
    post(world, "/api/v1/pins", {"project": text, "pins": [pin]})
    post(world, "/api/v1/externalize", {"session": "canary", "id": text, "sink": text})


def told_by_people(world: World, text: str) -> None:
    """The text in every form whose words are shown again."""
    admin = client_of(world.users[ROLE])
    marker = {"team": "one", "at": datetime.now(UTC).isoformat(), "kind": "note", "title": text}
    assert post(world, "/api/v1/markers", marker, "admin_key").status_code in (200, 201)
    assert admin.post(f"/connect/teams/{world.one.pk}/keys", {"kind": "ingest", "label": text}).status_code == 200
    loss = {
        "cause": "ttl_expired_5m",
        "reason": text,
        "owner": text,
        "until": str(datetime.now(UTC).date() + timedelta(days=30)),
    }
    admin.post(f"/cache/teams/{world.one.pk}/accept", loss)
    admin.post("/prices/add", {"model": text, "input": "1", "output": "2", "source": text, "valid_from": "2026-01-01"})
    admin.post("/policy/default/drafts", {"title": text})
    claim = {
        "slug": "canary",
        "claim": text,
        "source": text,
        "status": "confirmed",
        "reason": text,
        "tier": "practitioner",
    }
    admin.post("/policy/evidence/", claim)
    draft = Draft.objects.filter(title=text).first()
    assert draft is not None
    admin.post(f"/policy/drafts/{draft.pk}/comment", {"reason": text})
    admin.post(f"/policy/drafts/{draft.pk}/ask", {"reason": text})
    live = json.loads(admin.get("/api/v1/pin-sets/default/live").content)["pin_set"]
    pin = {**live["pins"][0], "id": "canary", "text": text, "why": text}
    given = {"title": text, "pin_set": {**live, "pins": [*live["pins"], pin]}, "reason": text}
    made = post(world, "/api/v1/pin-sets/default/drafts", given, "admin_key")
    assert made.status_code == 201, made.content
    where = f"/api/v1/pin-sets/default/drafts/{json.loads(made.content)['id']}/publish"
    assert post(world, where, {"revision": 1, "reason": text}, "admin_key").status_code == 201


@pytest.fixture
def world(db: None) -> World:
    """Two organisations, where the user with all rights is called like the canary too."""
    made = build()
    made.users[ROLE].username = SPOKEN.replace("7", "9")
    made.users[ROLE].save()
    return made


def files(session: Session) -> Iterator[str]:
    """Every file and answer that is no page."""
    for by in ("project", "model", "host", "team", "cause"):
        yield f"/tables/{by}.csv?period=all"
        yield f"/tables/{by}.json?period=all"
    yield f"/s/{session.pk}/badge.svg"
    yield from ("/api/v1/sessions", f"/api/v1/sessions/{session.pk}", "/api/v1/totals", "/api/v1/prices")
    yield from ("/api/v1/markers", "/api/v1/audit", "/api/v1/evidence", "/api/v1/policies")


@TEXTS
def test_canaries__in_every_field__act_on_no_page(world: World, text: str) -> None:
    places = furnished(world)
    told_by_machines(world, text)
    told_by_people(world, text)
    fold_everything()
    client = client_of(world.users[ROLE])
    for session in Session.objects.filter(team=world.one):
        places[f"hostile {session.pk}"] = f"/sessions/{session.pk}/"
    for draft in Draft.objects.filter(title=text):
        places[f"draft {draft.pk}"], places[f"review {draft.pk}"] = (
            f"/policy/drafts/{draft.pk}/{rest}" for rest in ("", "review")
        )
    found: dict[str, list[str]] = {}
    shown: set[str] = set()
    for route, address in places.items():
        answer = client.get(address)
        assert answer.status_code == 200, address
        markup = answer.content.decode()
        found[address] = acts(markup)
        if "alert(7)" in markup:
            shown.add(route)
        assert html.escape(text) in markup or text not in markup, address
    assert {address: elements for address, elements in found.items() if elements} == {}
    spoken = {"", "cache/", "prices/", "policy/pins/<slug:slug>/", "policy/pins/<slug:slug>/history"}
    # Words with spaces never pass a machine’s door; people’s do.
    assert shown >= (SHOWN_ON | spoken if text != SPOKEN else spoken)


@TEXTS
def test_canaries__in_every_field__act_in_no_file(world: World, text: str) -> None:
    told_by_machines(world, text)
    fold_everything()
    client = client_of(world.users[ROLE])
    session = Session.objects.filter(team=world.one).latest("pk")
    for address in files(session):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["X-Content-Type-Options"] == "nosniff", address
        kind, body = answer.headers["Content-Type"], answer.content.decode()
        if "csv" in kind:
            assert text == SPOKEN or "project" not in address or "alert(7)" in body
            cells = [cell for row in csv.reader(io.StringIO(body)) for cell in row]
            assert [cell for cell in cells if cell[:1] in ("=", "+", "@", "-", "\t", "\r")] == [], address
        elif "svg" in kind:
            drawn = {element.tag.rpartition("}")[2] for element in ET.fromstring(body).iter()}
            assert drawn <= {"svg", "title", "rect", "g", "text"}
        else:
            assert "json" in kind, address
            json.loads(body)
