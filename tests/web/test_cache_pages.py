"""The pages of the ledger: one call, the cache, prices, agreement, accepted losses."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client

from sessions_app.dashboard.call_page import call_page
from sessions_app.models import AcceptedLoss, Call, PriceRow, Repricing
from sessions_app.services import marking
from tests.support.deliveries import NOW, Delivery, deliver, fold_everything
from tests.support.story import recorded
from tests.support.world import World, build, changed_in, session_in
from tests.web.pages import client_of, page, words

ALL = "/cache/?period=all"


@pytest.fixture
def world(db: None) -> World:
    return build()


def test_call_page__call_7_of_the_story__says_why_it_cost_58_cents(world: World) -> None:
    session = recorded(world.one)
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/calls/7/"))
    for expected in (
        "Call 7 cost $0.58: $0.05 needed and $0.53 for sending 152,700 tokens again, not explained.",
        "$0.579312",
        "$0.052497",
        "Expected to read 152,700 from the cache, read 0, wrote 153,600.",
        "not proved: the prefix changed, or the provider dropped it guess, from usage and time",
        "Ruled out a compaction (none between) · clearing of old results (none between)",
        "another model (the same) · a pause (0.2 s since the last read; the limit is 5 min)",
        "the provider’s own reason (Claude Code from 2.1.120 on), or fingerprints from a proxy",
        "written to the cache, 5 min 153,600 x $3.75/M = $0.576000",
    ):
        assert expected in text


def test_call_page__bill__its_lines_sum_to_the_cost_with_and_without_the_loss(world: World) -> None:
    session = recorded(world.one)
    for call in Call.objects.filter(session=session):
        shown = call_page(world.users["viewer"], session.pk, call.number)
        assert sum((line.usd for line in shown.lines), Decimal()) + shown.fees_usd == call.cost_usd
        assert sum((line.needed_usd for line in shown.lines), Decimal()) + shown.fees_usd == call.needed_usd


def test_call_page__short_address__leads_there(world: World, client: Client) -> None:
    session = recorded(world.one)
    client.force_login(world.users["viewer"])
    assert client.get(f"/s/{session.pk}/calls/7").headers["Location"] == f"/sessions/{session.pk}/calls/7/"


def test_cache_page__the_story__from_no_cache_to_the_bill(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], ALL))
    for expected in (
        "$0.53 of $1.43 was sent again without a known cause; nothing was proved to be avoidable.",
        "without a cache $2.457009",
        "needed $0.783462",
        "rebuilds: expected $0.118542",
        "not explained $0.526815",
        "billed $1.428819",
        "writing again after compactions rebuild, expected 1 9,800 $0.033810",
        "How many seconds misses cost is not known",
        "Claude Code claude-sonnet-4-5 read 2026-",
        "No change was noticed or set yet.",
    ):
        assert expected in text


def test_cache_page__nothing_yet__says_what_to_do(world: World) -> None:
    text = words(page(world.users["viewer"], "/cache/"))
    assert "Nothing with a price happened in the last 7 days." in text
    assert "Bring sessions in" in text


def test_cache_page__accepted_loss__goes_last_and_can_be_withdrawn(world: World) -> None:
    recorded(world.one)
    admin = client_of(world.users["admin"])
    form = {"cause": "prefix_changed_or_evicted", "reason": "known", "owner": "Mara", "until": "", "period": "all"}
    form["until"] = (NOW + timedelta(days=30)).date().isoformat()
    answer = admin.post(f"/cache/teams/{world.one.pk}/accept", form)
    assert answer.status_code == 302
    loss = AcceptedLoss.objects.get()
    text = words(page(world.users["admin"], ALL))
    assert "(Mara): known" in text
    assert admin.post(f"/cache/teams/{world.one.pk}/accepted/{loss.pk}/withdraw", {}).status_code == 302
    assert "(Mara): known" not in words(page(world.users["admin"], ALL))


def test_prices__unpriced_model__priced_like_another_by_one_button(world: World) -> None:
    recorded(world.one)
    session = session_in(world.one, "x", cost_usd=None, no_cache_cost_usd=None)
    changed_in(session, model="claude-sonnet-9", unpriced_calls=1, cost_usd=None)
    admin = client_of(world.users["organisation_admin"])
    text = words(admin.get("/prices/?team=one").content.decode())
    assert "1 model in use has no price." in text
    answer = admin.post("/prices/add", {"model": "claude-sonnet-9", "like": "claude-sonnet-4-5"})
    assert answer.headers["Location"] == "/prices/claude-sonnet-9/"
    row = PriceRow.objects.get(model="claude-sonnet-9")
    assert (row.input, row.source) == (Decimal(3), "as claude-sonnet-4-5")
    assert Repricing.objects.get().price_row == row
    assert "1 price row" in words(admin.get("/prices/claude-sonnet-9/").content.decode())


def test_prices__form__adds_a_row_or_names_the_field(world: World) -> None:
    admin = client_of(world.users["organisation_admin"])
    form = {"model": "acme-1", "input": "1.5", "output": "x", "source": "mail"}
    answer = admin.post("/prices/add", form)
    assert answer.status_code == 400
    assert admin.post("/prices/add", {**form, "output": "6"}).status_code == 302
    assert admin.post("/prices/multiplier", {"multiplier": "0.85"}).status_code == 302
    assert 'value="0.85"' in admin.get("/prices/").content.decode()
    assert admin.post("/prices/multiplier", {"multiplier": "NaN"}).status_code == 400


def test_agreement_page__nothing_told__says_so(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], "/cache/agreement/?period=all"))
    assert "The provider has explained no miss here yet." in text


def test_cache_page__largest_counts_beside_a_marker__shown(world: World) -> None:
    most = 2**63 - 1
    told = {"type": "call", "session": "s", "message_id": "m", "started_at": NOW.isoformat(), "output": 1}
    body = json.dumps({**told, "uncached_input": most, "cache_read": most}).encode()
    deliver(world.one, [Delivery("canonical", body)])
    fold_everything()
    marking.mark(team=world.one, at=NOW, kind="note", title="x", project=None, by="", now=NOW)
    assert client_of(world.users["viewer"]).get(ALL).status_code == 200
