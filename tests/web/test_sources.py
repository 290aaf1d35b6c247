"""The page of sources, and how it is said that something is paid."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.dashboard.coverage_words import MEANINGS, WAYS, way_of
from sessions_app.dashboard.sources import clock_words
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.coverage import SHOWN
from sessions_app.models import Billing, SourceRow
from tests.support.deliveries import INPUTS, Delivery, deliver, logs_only
from tests.support.story import recorded
from tests.support.world import NOW, World, build
from tests.web.pages import client_of, page, words

MOST_QUERIES = 8
STATUS_LINE = INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
REMARK = "List prices. If you have a subscription, this is not your bill."


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def row(world: World, feed: str = "claude-code-hook", **fields: object) -> SourceRow:
    """A source of team one."""
    given: dict[str, object] = {
        "team": world.one,
        "host": "claude-code",
        "machine": "0123456789ab",
        "first_received_at": NOW,
        "last_received_at": NOW,
        "deliveries": 1,
        "records": 1,
        "topics": {"moments": int(NOW.timestamp() * 1000)},
        **fields,
    }
    return SourceRow.objects.create(feed=feed, **given)


def states(markup: str) -> dict[str, str]:
    """Signal: state, as the map says it."""
    lines = markup.split('<table class="covers"')[1].split("</table>")[0].split('scope="row">')[1:]
    return {line.split("<")[0]: line.split('class="cover cover-')[1].split('"')[0] for line in lines}


def test_sources__the_recorded_story__is_covered_as_its_ways_can(world: World) -> None:
    recorded(world.one)
    found = states(page(world.users["viewer"], "/sources/"))
    assert len(found) == len(SHOWN)
    assert found["usage of each call"] == found["a compaction’s own call"] == found["the branch"] == "received"
    assert found["the stated window"] == found["the host’s own gauge"] == "estimated"
    assert found["limits of a subscription"] == found["how it is paid"] == "silent"


def test_sources__telemetry_alone__says_what_to_connect(world: World) -> None:
    deliver(world.one, logs_only())
    text = words(page(world.users["viewer"], "/sources/"))
    assert "writes of unknown lifetime are priced as 5-minute ones. Connect transcripts or a proxy." in text.replace(
        "Writes", "writes"
    )
    assert "Unknown without it: what a branch cost. Connect transcripts." in text


def test_sources__with_the_status_line__know_window_and_gauge(world: World) -> None:
    deliver(world.one, [Delivery("claude-code-statusline", STATUS_LINE.read_bytes())])
    found = states(page(world.users["viewer"], "/sources/"))
    assert found["the stated window"] == found["the host’s own gauge"] == "received"


def test_sources__nothing_yet__leads_to_connect(world: World) -> None:
    markup = page(world.users["viewer"], "/sources/")
    assert "Nothing reports yet." in words(markup)
    assert 'href="/connect/"' in markup


def test_sources__other_teams__are_not_in_it(world: World) -> None:
    row(world, team=world.two, version="8.8.8")
    row(world, team=world.foreign, version="9.9.9")
    text = words(page(world.users["viewer"], "/sources/?team=two"))
    assert "Nothing reports yet." in text
    assert "9.9.9" not in words(page(world.users["organisation_admin"], "/sources/"))


def test_sources__a_way_that_stopped__leads_the_page(world: World) -> None:
    row(world)
    row(
        world,
        "claude-code-statusline",
        first_received_at=NOW - timedelta(days=9),
        last_received_at=NOW - timedelta(days=3),
    )
    text = words(page(world.users["viewer"], "/sources/"))
    assert text.strip().startswith("Something stopped: the status line of Claude Code spoke last")


def test_sources__an_older_version__has_not_stopped(world: World) -> None:
    row(world, "claude-code-transcript", version="2.1.200")
    old = NOW - timedelta(days=30)
    row(world, "claude-code-transcript", version="2.1.100", first_received_at=old, last_received_at=old)
    assert "stopped" not in words(page(world.users["viewer"], "/sources/"))


def test_sources__lost_hooks_and_wrong_clocks__are_said(world: World) -> None:
    row(world, lost_hook_events=3, leads_ms=[90_000], last_occurred_at=NOW)
    text = words(page(world.users["viewer"], "/sources/"))
    assert "3 hooks were lost while there was no room to keep them" in text
    assert "1 min 30 s ahead" in text
    assert "clock" in text


def test_sources__what_carries_no_clock__is_unknown_and_not_zero(world: World) -> None:
    row(world)
    markup = page(world.users["viewer"], "/sources/")
    assert 'title="its records carry no time of their own"' in markup
    assert 'title="this way carries no version"' in markup


@pytest.mark.parametrize(
    ("lead_ms", "said"),
    [
        (None, ""),
        (-4_000, "agrees"),
        (10_000, "agrees"),
        (61_000, "1 min 1 s ahead"),
        (-61_000, "1 min 1 s behind, or late"),
    ],
)
def test_clock__by_its_lead__is_said_in_words(lead_ms: int | None, said: str) -> None:
    assert clock_words(lead_ms) == said


def test_sources__many__ask_a_bounded_number_of_queries(world: World) -> None:
    for number in range(60):
        row(world, machine=f"{number:012x}")
    client = client_of(world.users["viewer"])
    with CaptureQueriesContext(connection) as captured:
        answer = client.get("/sources/")
    assert len(captured) <= MOST_QUERIES
    assert "and 20 more that spoke before these" in words(answer.content.decode())
    assert len(answer.content) < 200_000


def test_billing__stated_by_an_admin__takes_the_remark_away(world: World) -> None:
    session = recorded(world.one)
    pages = ("/?period=all", f"/sessions/{session.pk}/")
    assert all(REMARK in words(page(world.users["viewer"], address)) for address in pages)
    answer = client_of(world.users["admin"]).post(
        f"/sources/teams/{world.one.pk}/billing", {"host": "claude-code", "mode": "metered"}, follow=True
    )
    assert "Noted: One, claude-code: metered." in words(answer.content.decode()) or b"metered" in answer.content
    assert not any("List prices." in words(page(world.users["viewer"], address)) for address in pages)
    assert states(page(world.users["viewer"], "/sources/"))["how it is paid"] == "received"


def test_billing__a_subscription__is_said_with_its_limits(world: World) -> None:
    session = recorded(world.one)
    sample = json.loads(STATUS_LINE.read_text().splitlines()[-1])
    limits = {"five_hour": {"used_percentage": 23.5}, "seven_day": {"used_percentage": 41}}
    payload = {**sample, "session_id": session.host_session_id, "rate_limits": limits}
    deliver(world.one, [Delivery("claude-code-statusline", json.dumps(payload).encode())])
    Billing.objects.create(team=world.one, host="claude-code", mode="subscription", stated_at=NOW)
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/"))
    assert "This is paid by subscription, so it is not your bill." in text
    assert "23.5% of the five-hour limit and 41.0% of the weekly limit used" in text


def test_billing__part_of_it_metered__is_no_bill(world: World) -> None:
    recorded(world.one)
    row(world, "canonical", host="codex", machine="")
    Billing.objects.create(team=world.one, host="codex", mode="metered", stated_at=NOW)
    assert "Not all of it is metered" in words(page(world.users["viewer"], "/?period=all"))


def test_billing__a_viewer__is_offered_no_form(world: World) -> None:
    row(world)
    assert '<button type="submit">State it' not in page(world.users["viewer"], "/sources/")
    assert '<button type="submit">State it' in page(world.users["admin"], "/sources/")


def test_words__every_signal_and_feed__has_some() -> None:
    assert set(MEANINGS) == set(SHOWN)
    assert {WAYS[way_of(feed)] for feed in FEEDS if feed.startswith("claude-code")} == {
        "hooks",
        "status line",
        "telemetry",
        "metrics",
        "transcripts",
    }
