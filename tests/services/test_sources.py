"""Who reports, as ingest notes it: counts are those of the recorded files."""

import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.test import Client

from ecm_site.common.problems import DomainError
from sessions_app.feeds.base import Context, Refused
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.coverage import skew_ms
from sessions_app.models import Billing, SourceRow, Team, VaultRecord
from sessions_app.services import ingest, rereading, sources
from sessions_app.services.ingest import Sender
from tests.support import deliveries as story
from tests.support.world import World, build

HOOK = "claude-code-hook"
STATUS = "claude-code-statusline"
LOGS = "claude-code-otlp-logs"
TRANSCRIPT = "claude-code-transcript"


@pytest.fixture
def world(db: None) -> World:
    return build()


def row(team: Team, feed: str) -> SourceRow:
    return SourceRow.objects.get(team=team, feed=feed)


def receive(team: Team, feed: str, body: bytes, *, seconds: float = 0) -> None:
    """One delivery, `seconds` after the story."""
    now = story.NOW + timedelta(seconds=seconds)
    context = Context(received_ms=int(now.timestamp() * 1000))
    ingest.receive(sender=Sender(team.pk), feed=FEEDS[feed], body=body, context=context, now=now)


def hook(seconds: float | None = None, *, session: str = "s") -> bytes:
    """A hook as the host posts it, or as the client passes it on with its own clock."""
    payload = {"session_id": session, "hook_event_name": "Stop", "cwd": "/home/dev/acme-api"}
    if seconds is None:
        return json.dumps(payload).encode()
    return json.dumps({"received_at": story.NOW.timestamp() + seconds, "payload": payload}).encode()


def test_story__by_three_ways__each_is_a_source_with_its_counts(world: World) -> None:
    story.deliver(world.one, story.whole_story())
    hooks, lines = row(world.one, HOOK), row(world.one, TRANSCRIPT)
    assert hooks.deliveries == hooks.records == len(story.hooks())
    assert lines.records == sum(len(d.body.splitlines()) for d in story.transcripts())
    assert (lines.version, hooks.version, hooks.machine, hooks.refused) == ("2.1.197", "", "", 0)
    assert lines.last_occurred_at is not None
    assert lines.last_occurred_at < lines.first_received_at <= lines.last_received_at


def test_story__each_way__tells_what_only_it_can(world: World) -> None:
    story.deliver(world.one, story.whole_story())
    told = {feed: set(row(world.one, feed).topics) for feed in (HOOK, LOGS, TRANSCRIPT)}
    assert {"usage", "ttl_split", "branch", "compactions", "subagents"} <= told[TRANSCRIPT]
    assert {"usage", "host_cost", "compaction_call"} <= told[LOGS]
    assert "compaction_call" not in told[TRANSCRIPT]
    assert "ttl_split" not in told[LOGS]
    assert not told[HOOK] & {"usage", "window", "branch", "version"}


def test_statusline__of_the_recorded_host__states_window_and_gauge(world: World) -> None:
    samples = (story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes()
    receive(world.one, STATUS, samples)
    assert {"window", "gauge", "host_cost"} <= set(row(world.one, STATUS).topics)


def test_note__delivered_twice__counts_both_and_stays_one_source(world: World) -> None:
    for _ in range(2):
        story.deliver(world.one, story.hooks())
    assert row(world.one, HOOK).deliveries == 2 * len(story.hooks())


def test_note__any_batch__is_one_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    execute, sent = psycopg.Cursor.execute, []

    def counted(cursor: psycopg.Cursor[Any], query: Any, *given: Any, **options: Any) -> psycopg.Cursor[Any]:
        sent.append(str(query))
        return execute(cursor, query, *given, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    counts = []
    for sessions in (2, 300):
        sent.clear()
        receive(world.one, HOOK, b"\n".join(hook(session=f"s{sessions}-{number}") for number in range(sessions)))
        counts.append((len(sent), sum("sessions_app_sourcerow" in query for query in sent)))
    assert counts[0] == counts[1]
    assert counts[0][1] == 1


def test_note__two_teams__have_sources_of_their_own(world: World) -> None:
    receive(world.one, HOOK, hook())
    receive(world.two, HOOK, hook())
    assert set(SourceRow.objects.for_user(world.users["viewer"]).values_list("team", flat=True)) == {world.one.pk}


def test_note__records_that_are_refused__are_counted_beside_those_read(world: World) -> None:
    receive(world.one, HOOK, hook() + b'\n{"hook_event_name":"Stop"}\nnot json\n')
    assert (row(world.one, HOOK).records, row(world.one, HOOK).refused) == (1, 2)


def test_note__a_body_that_nobody_can_read__is_counted_and_refused(world: World) -> None:
    with pytest.raises(Refused):
        receive(world.one, LOGS, b"[]")
    assert (row(world.one, LOGS).records, row(world.one, LOGS).refused) == (0, 1)


def test_note__versions_in_one_transcript__are_told_apart(world: World) -> None:
    line = '{"type":"user","sessionId":"s","uuid":"%s","version":"%s","timestamp":"2026-11-30T22:00:00Z","message":{}}'
    receive(world.one, TRANSCRIPT, "\n".join(line % pair for pair in (("a", "2.1.0"), ("b", "2.1.1"))).encode())
    versions = SourceRow.objects.filter(feed=TRANSCRIPT).order_by("version").values_list("version", "records")
    assert list(versions) == [("2.1.0", 1), ("2.1.1", 1)]


def test_note__endless_versions__are_one_source_without_a_version(world: World) -> None:
    line = '{"type":"user","sessionId":"s","uuid":"u%d","version":"9.%d","timestamp":"2026-11-30T22:00:00Z"}'
    receive(world.one, TRANSCRIPT, "\n".join(line % (n, n) for n in range(500)).encode())
    assert SourceRow.objects.count() == sources.MOST_VERSIONS + 1


def test_clock__of_a_client_that_is_ahead__is_seen_from_its_deliveries(world: World) -> None:
    for number in range(12):
        receive(world.one, HOOK, hook(number + 90.0), seconds=number)
    receive(world.one, HOOK, hook(0.0), seconds=600)
    leads = row(world.one, HOOK).leads_ms
    assert len(leads) == sources.LEADS_KEPT
    assert leads[0] == -600_000
    assert skew_ms(leads) == 90_000


def test_clock__of_what_has_none_or_is_imported__is_unknown(world: World) -> None:
    receive(world.one, HOOK, hook())
    story.deliver(world.one, story.transcripts())
    assert row(world.one, HOOK).leads_ms == row(world.one, TRANSCRIPT).leads_ms == []
    assert row(world.one, HOOK).last_occurred_at is None


def test_quota__told_late__does_not_replace_a_newer_one(world: World) -> None:
    def sample(share: float) -> bytes:
        limits = {"five_hour": {"used_percentage": share}, "seven_day": {"used_percentage": 41}}
        return json.dumps({"session_id": "s", "rate_limits": limits}).encode()

    receive(world.one, STATUS, sample(23.5), seconds=60)
    late = {"received_at": story.NOW.timestamp(), "payload": json.loads(sample(11))}
    receive(world.one, STATUS, json.dumps(late).encode(), seconds=90)
    found = row(world.one, STATUS)
    assert (found.five_hour_permille, found.seven_day_permille) == (235, 410)


def test_reread__of_the_vault__is_no_delivery(world: World) -> None:
    story.deliver(world.one, story.hooks())
    before = row(world.one, HOOK).deliveries
    for record in VaultRecord.objects.all():
        rereading.reread(record=record, now=story.NOW)
    assert row(world.one, HOOK).deliveries == before


@pytest.mark.parametrize(
    ("told", "kept"),
    [("0123456789ab", "0123456789ab"), ("", ""), ("alices-laptop", "0c5e9b47651a")],
    ids=["a hash", "nothing", "a name"],
)
def test_machine__whatever_is_told__only_a_hash_is_kept(world: World, told: str, kept: str) -> None:
    secret = world.secrets["ingest_key"]
    headers = {"Authorization": f"Bearer {secret}", **({"X-ECM-Machine": told} if told else {})}
    answer = Client().post("/api/v1/hooks/claude-code", hook(), "application/json", headers=headers)
    assert answer.status_code == 200
    assert row(world.one, HOOK).machine == kept


def test_bundle__hooks_that_were_lost__are_counted_and_never_fewer(world: World) -> None:
    headers = {"Authorization": f"Bearer {world.secrets['ingest_key']}", "X-ECM-Machine": "0123456789ab"}
    for lost in (3, 0, -1, "x"):
        bundle = {"session_id": "s", "hooks": [json.loads(hook(0))], "lost_hook_events": lost}
        answer = Client().post("/api/v1/bundles/claude-code", bundle, "application/json", headers=headers)
        assert answer.status_code == 200
    assert row(world.one, HOOK).lost_hook_events == 3


def test_billing__stated_and_taken_back__is_one_row_or_none(world: World) -> None:
    def state(mode: str, host: str = "claude-code") -> None:
        by = world.users["admin"]
        sources.state_billing(team=world.one, host=host, mode=mode, by=by, now=story.NOW)

    state("metered")
    state("subscription")
    assert list(Billing.objects.values_list("team", "host", "mode")) == [(world.one.pk, "claude-code", "subscription")]
    state("unknown")
    assert not Billing.objects.exists()
    for host, mode in (("claude-code", "free"), ("emacs", "metered")):
        with pytest.raises(DomainError):
            state(mode, host)
