"""The Connect page: the live tick, what to paste, and one's own keys."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.dashboard import snippets
from sessions_app.dashboard.scope import scope_of
from sessions_app.dashboard.ticks import Ticks, ticks
from sessions_app.models import ApiKey, Session, SourceRow, Team
from sessions_app.services import keys, own_keys
from tests.support.deliveries import INPUTS, Delivery, deliver, fold_everything, hooks, logs_only, transcripts
from tests.support.deliveries import NOW as STORY_NOW
from tests.support.story import STORY_ID, priced
from tests.support.world import World, build
from tests.web.pages import client_of, page, words

STATUS_LINE = INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def tell(world: World, *deliveries: Delivery) -> None:
    priced()
    deliver(world.one, list(deliveries))
    fold_everything()


def gauge(occupancy: int) -> Delivery:
    """A status line sample of the story's session that tells this many tokens."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": occupancy - 3, "cache_creation_input_tokens": 0}
    window = {"context_window_size": 200_000, "current_usage": {**usage, "output_tokens": 5}}
    return Delivery("claude-code-statusline", json.dumps({"session_id": STORY_ID, "context_window": window}).encode())


def tick(world: World) -> str:
    return words(page(world.users["viewer"], "/connect/", **HTMX))


def test_tick__nothing_yet__is_unknown_in_every_way(world: World) -> None:
    text = words(page(world.users["viewer"], "/connect/"))
    assert "Nothing speaks yet. One command connects Claude Code." in text
    assert text.count("never heard") == 4
    assert "No way has brought a number yet." in text


def test_tick__telemetry_and_transcripts_of_the_story__agree(world: World) -> None:
    tell(world, *hooks(), *logs_only(), *transcripts())
    assert "28,505 tokens by telemetry and transcripts: the same number, counted once." in tick(world)


def test_tick__the_status_line_too__agrees_with_both(world: World) -> None:
    tell(world, *logs_only(), *transcripts(), gauge(28_505))
    assert "28,505 tokens by status line, telemetry and transcripts" in tick(world)


def test_tick__one_way_alone__has_nothing_to_be_compared_with(world: World) -> None:
    tell(world, *logs_only())
    assert "Only telemetry brought numbers; nothing to compare yet." in tick(world)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (timedelta(seconds=30), "The same call has come by one way only so far."),
        (timedelta(minutes=2), "They told no number in common: 77,777 by status line and 28,505 by telemetry."),
    ],
    ids=["at first", "for long"],
)
def test_tick__numbers_apart__differ_only_when_both_had_time(world: World, after: timedelta, said: str) -> None:
    tell(world, *logs_only(), gauge(77_777))
    viewer = world.users["viewer"]
    assert ticks(viewer, scope_of(viewer, {}), STORY_NOW + after).agreement == said


def test_tick__one_request_told_twice_differently__is_said(world: World) -> None:
    def call(tokens: int) -> dict[str, object]:
        usage = {"input_tokens": tokens, "output_tokens": 1}
        message = {"id": "m1", "model": "claude-sonnet-4-5", "role": "assistant", "usage": usage}
        return {
            "type": "assistant",
            "sessionId": STORY_ID,
            "uuid": "u1",
            "requestId": "req_x",
            "message": message,
            "timestamp": "2026-11-30T22:00:00Z",
        }

    names = {"event.name": "api_request", "session.id": STORY_ID, "request_id": "req_x", "model": "claude-sonnet-4-5"}
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in names.items()]
    attributes.append({"key": "input_tokens", "value": {"intValue": 500}})
    record = {"timeUnixNano": "1796076000000000000", "attributes": attributes}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    tell(
        world,
        Delivery("claude-code-transcript", json.dumps(call(400)).encode()),
        Delivery("any-otlp-logs", json.dumps(logs).encode()),
    )
    assert "Two ways tell one call differently" in tick(world)


def test_tick__hooks__carry_no_number(world: World) -> None:
    tell(world, *hooks())
    markup = page(world.users["viewer"], "/connect/", **HTMX)
    assert 'title="hooks carry no tokens"' in markup
    assert Session.objects.count() == 1


def test_tick__while_nothing_is_new__is_not_sent_again(world: World) -> None:
    tell(world, *logs_only())
    client = client_of(world.users["viewer"])
    first = client.get("/connect/", headers=HTMX)
    assert first.status_code == 200
    assert b"<html" not in first.content
    known = json.loads(unescape(re.findall(r'hx-headers="([^"]*)"', first.content.decode())[0]))
    assert known == {"If-None-Match": first.headers["ETag"]}
    again = client.get("/connect/", headers={**HTMX, **known})
    assert (again.status_code, again.content) == (304, b"")
    tell(world, *transcripts())
    assert client.get("/connect/", headers={**HTMX, **known}).status_code == 200
    assert "no-cache" in first.headers["Cache-Control"]
    assert "HX-Request" in first.headers["Vary"]


def test_tick__of_another_team__is_not_shown(world: World) -> None:
    tell(world, *logs_only())
    assert "28,505" not in words(page(world.users["other_admin"], "/connect/?team=one"))


def test_ticks__equal_lines__have_equal_tags() -> None:
    assert Ticks(None, "", (), "a", False).etag == Ticks(None, "", (), "a", True).etag
    assert Ticks(None, "", (), "a", False).etag != Ticks(None, "", (), "b", False).etag


def pasted(markup: str, name: str) -> str:
    """The text of a snippet, as one copies it."""
    return unescape(markup.split(f'<code id="{name}">')[1].split("</code>")[0])


def test_snippet__as_pasted__is_valid_and_reports_by_every_hook(world: World) -> None:
    value = json.loads(pasted(page(world.users["viewer"], "/connect/"), "settings"))
    assert set(value["hooks"]) == {
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SessionEnd",
        "ConfigChange",
    }
    handlers = {event: groups[0]["hooks"][0] for event, groups in value["hooks"].items()}
    # Seen on the host: SessionStart fires no http hook, and PreCompact gives the body to the summariser.
    assert {event for event, handler in handlers.items() if handler["type"] == "command"} == {
        "SessionStart",
        "PreCompact",
    }
    assert handlers["PreCompact"]["command"].endswith("?as=text'")
    assert all("curl -fsS" in handlers[event]["command"] for event in ("SessionStart", "PreCompact"))
    assert all("$" not in handler.get("url", "") for handler in handlers.values())
    assert value["env"]["OTEL_EXPORTER_OTLP_HEADERS"] == "Authorization=Bearer YOUR_KEY"
    assert settings.PUBLIC_URL in value["env"]["OTEL_EXPORTER_OTLP_ENDPOINT"]


def test_snippet__its_addresses__take_what_the_host_sends(world: World) -> None:
    secret = world.secrets["ingest_key"]
    given = snippets.settings("", secret)
    payloads = {json.loads(d.body)["hook_event_name"]: d.body for d in hooks()}
    for event, groups in given["hooks"].items():
        handler = groups[0]["hooks"][0]
        address = handler.get("url") or re.findall(r"'(/[^']*)'$", handler["command"])[0]
        body = payloads.get(event) or json.dumps({"session_id": STORY_ID, "hook_event_name": event}).encode()
        answer = Client().post(address, body, "application/json", headers={"Authorization": f"Bearer {secret}"})
        assert (answer.status_code, answer.content) == (200, b""), event
        assert "refused=0" in answer.headers["X-ECM-Receipt"]
    endpoint, bearer = given["env"]["OTEL_EXPORTER_OTLP_ENDPOINT"], given["env"]["OTEL_EXPORTER_OTLP_HEADERS"]
    headers = {"Authorization": bearer.removeprefix("Authorization=")}
    for delivery in logs_only():
        assert Client().post(f"{endpoint}/v1/logs", delivery.body, "application/json", headers=headers).json() == {}
    status = re.findall(r"'(/[^']*)'", snippets.status_line("")["statusLine"]["command"])[0]
    for sample in STATUS_LINE.read_bytes().splitlines():
        assert Client().post(status, sample, "application/json", headers=headers).json()["refused"] == []
    assert set(SourceRow.objects.values_list("feed", flat=True)) == {
        "claude-code-hook",
        "any-otlp-logs",
        "claude-code-statusline",
    }


def test_managed_settings__for_a_fleet__hold_no_key(client: Client) -> None:
    answer = client.get("/connect/claude-code/managed-settings.json")
    assert 'filename="managed-settings.json"' in answer.headers["Content-Disposition"]
    assert answer.json()["env"]["ECM_KEY"] == "TEAM_KEY"


def make(user: User, team: Team, label: str = "my laptop") -> str:
    """The page after a key was made."""
    answer = client_of(user).post(f"/connect/teams/{team.pk}/keys", {"label": label})
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    return str(answer.content.decode())


def test_own_key__made_by_an_editor__works_is_shown_once_and_names_its_owner(world: World) -> None:
    editor = world.users["editor"]
    secret = pasted(make(editor, world.one), "new-key")
    holder = keys.authenticate(secret)
    assert holder is not None
    assert (holder.kind, holder.team_id, holder.developer) == ("ingest", world.one.pk, "editor")
    again = page(editor, "/connect/keys/")
    assert secret not in again
    assert "my laptop" in again


def test_own_key__with_it__the_snippets_are_ready_to_paste(world: World) -> None:
    markup = make(world.users["editor"], world.one)
    secret = pasted(markup, "new-key")
    assert secret in pasted(markup, "new-client")
    assert json.loads(pasted(markup, "new-settings"))["env"]["ECM_KEY"] == secret


def test_own_key__revoked__brings_nothing_any_more(world: World) -> None:
    editor = world.users["editor"]
    secret = pasted(make(editor, world.one), "new-key")
    key = own_keys.keys_of(editor).get()
    assert client_of(editor).post(f"/connect/keys/{key.pk}/revoke").status_code == 302
    assert keys.authenticate(secret) is None
    assert "revoked" in words(page(editor, "/connect/keys/"))


def test_own_key__of_somebody_else__is_neither_shown_nor_revoked(world: World) -> None:
    make(world.users["editor"], world.one, "of the editor")
    key = ApiKey.objects.get(label="of the editor")
    for name in ("admin", "organisation_admin"):
        assert "of the editor" not in page(world.users[name], "/connect/keys/")
        assert client_of(world.users[name]).post(f"/connect/keys/{key.pk}/revoke").status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_own_key__too_many__are_refused_in_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_keys, "MOST_KEYS", 1)
    editor = world.users["editor"]
    make(editor, world.one)
    answer = client_of(editor).post(f"/connect/teams/{world.one.pk}/keys", {"label": "x"}, follow=True)
    assert "revoke one first" in answer.content.decode()
    assert own_keys.keys_of(editor).count() == 1


def test_own_key__a_viewer__is_told_what_it_takes(world: World) -> None:
    markup = page(world.users["viewer"], "/connect/keys/")
    assert "takes the role of an editor" in words(markup)
    assert "Make a key for" not in markup


def test_own_key__forms__need_a_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.users["editor"])
    assert client.post(f"/connect/teams/{world.one.pk}/keys").status_code == 403
    assert not own_keys.keys_of(world.users["editor"]).exists()


def test_own_key__hostile_labels__are_text(world: World) -> None:
    markup = make(world.users["editor"], world.one, "<script>alert(1)</script>\0")
    assert "<script>alert(1)" not in markup
