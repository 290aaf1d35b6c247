"""The recorded story through the database: any order, twice, in two teams, read again from the vault."""

import zlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Call, Compaction, Session, Team, UsageSlot, VaultRecord
from sessions_app.services import prices, rereading, store
from sessions_app.services.projecting import exact
from tests.support import deliveries as story
from tests.support.pins import PINS

STORY_ZONES = ["GREEN", "GREEN", "AMBER", "AMBER", "RED", "RED", "GREEN", "GREEN"]


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def check(session: Session) -> None:
    assert (session.calls, session.aux_calls, session.subagent_calls) == (9, 1, 1)
    assert (session.uncached_input, session.cache_read, session.output) == (53, 472_200, 4_450)
    assert (session.cache_write_5m, session.cache_write_unknown_ttl, session.cache_write_1h) == (323_000, 700, 1_500)
    assert exact(session.cost_usd) == "1.428819"
    assert exact(session.saved_usd) == "1.02819"
    assert (session.compactions, session.depth, session.zone, session.last_occupancy) == (1, 1, "GREEN", 28_505)
    zones = session.call_rows.exclude(zone="").order_by("number").values_list("zone", flat=True)
    assert list(zones) == STORY_ZONES
    assert session.project is not None
    assert (session.project.name, session.branch) == ("acme-api", "master")


@pytest.mark.parametrize("seed", range(4))
def test_story__any_order_twice_and_cut__one_session_with_the_served_usage(seed: int, teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.shuffled(story.whole_story(), seed))
    story.fold_everything()
    check(Session.objects.get())


def test_story__folded_after_each_delivery__same_as_at_the_end(teams: dict[str, Team]) -> None:
    for delivery in story.whole_story():
        story.deliver(teams["A"], [delivery])
        story.fold_everything()
    check(Session.objects.get())
    assert Call.objects.count() == 10


def test_story__delivered_twice__second_time_nothing_is_new(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    again = story.deliver(teams["A"], story.whole_story())
    assert sum(receipt.accepted for receipt in again) == 0
    assert sum(receipt.duplicate for receipt in again) > 50
    assert not any(receipt.refused for receipt in again)


def test_story__in_two_teams__each_has_its_own(teams: dict[str, Team]) -> None:
    for team in teams.values():
        story.deliver(team, story.whole_story())
    story.fold_everything()
    for session in Session.objects.all():
        check(session)
    assert sorted(Session.objects.values_list("team__slug", flat=True)) == ["a", "b"]


def test_story__projections_dropped__rebuilt_to_the_same(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()

    def rows() -> list[object]:
        models = (Call, Compaction, UsageSlot)
        return [sorted(m.objects.values_list("key", "digest")) for m in models]

    before = rows()
    for model in (Call, Compaction, UsageSlot):
        model.objects.all().delete()
    store.mark_dirty([Session.objects.get().pk], story.NOW)
    story.fold_everything()
    assert rows() == before


def test_story__vault_read_again__tells_nothing_new(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    receipts = [rereading.reread(record=record, now=story.NOW) for record in VaultRecord.objects.all()]
    assert receipts
    assert sum(r.accepted for r in receipts) == 0
    assert not any(r.refused for r in receipts)


def test_story__only_the_vault_left__the_same_figures(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    Session.objects.all().delete()
    for record in VaultRecord.objects.all():
        rereading.reread(record=record, now=story.NOW)
    story.fold_everything()
    check(Session.objects.get())


def test_story__statements_of_ingest__do_not_grow_with_the_batch(teams: dict[str, Team]) -> None:
    transcript = max(story.transcripts(), key=lambda d: len(d.body))
    lines = transcript.body.splitlines(keepends=True)
    counts = []
    for team, part in ((teams["A"], lines[:10]), (teams["B"], lines)):
        with CaptureQueriesContext(connection) as captured:
            story.deliver(team, [story.Delivery(transcript.feed, b"".join(part))])
        counts.append(len(captured))
    assert counts[0] == counts[1]


CANARIES = (
    "run the checks",
    "Running.",
    "keep decisions",
    "carry on",
    "seq 1 2000",
    "done 8",
    "/home/dev",
    "look around",
)


def test_story__nothing_that_was_said_or_touched__is_stored(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    husks = b"\n".join(zlib.decompress(record.husks) for record in VaultRecord.objects.all()).decode()
    with connection.cursor() as cursor:
        stored = [husks]
        for table in connection.introspection.table_names(cursor):
            if table.startswith("sessions_app_") and not table.endswith("vaultrecord"):
                cursor.execute(f'SELECT t::text FROM "{table}" t')
                stored += [row[0] for row in cursor.fetchall()]
    text = "\n".join(stored)
    assert "msg_mock00007" in text
    assert [canary for canary in CANARIES if canary in text] == []


def test_statusline_story__zero_after_compact__unknown_and_not_green(teams: dict[str, Team]) -> None:
    samples = (story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes().splitlines()
    seen = []
    for sample in samples:
        story.deliver(teams["A"], [story.Delivery("claude-code-statusline", sample)])
        story.fold_everything()
        session = Session.objects.get()
        seen.append((session.zone, session.window, session.window_origin))
    stated = (200_000, "stated")
    assert seen == [("UNKNOWN", *stated), ("RED", *stated), ("UNKNOWN", *stated), ("GREEN", *stated)]
    assert session.current["points"] == ["RED", "GREEN"]
    assert exact(session.host_cost_usd) == "1.428819"


def test_fold__largest_counts_in_every_leaf__stored_and_not_parked(teams: dict[str, Team]) -> None:
    most = 2**63 - 1
    line = (
        '{"type":"assistant","sessionId":"s","uuid":"%s","message":{"id":"%s","model":"claude-sonnet-4-5","usage":'
        '{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":%d}}}'
    )
    body = "\n".join(line % (n, n, most, most, most, most) for n in "ab")
    story.deliver(teams["A"], [story.Delivery("claude-code-transcript", body.encode())])
    story.fold_everything()
    session = Session.objects.get()
    assert (session.calls, session.uncached_input, session.fold_error) == (2, most, "")
    assert Call.objects.filter(uncached_input=most).count() == 2
