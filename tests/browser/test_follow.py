"""A session that goes on, in a real browser: its page shows what arrives, keeps what one does there, and rests."""

from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from sessions_app.models import Session
from tests.browser.conftest import Opener
from tests.browser.test_pages import SEVERE, WIDE, watched
from tests.support.live import live_in
from tests.support.world import World, call_in

pytestmark = [pytest.mark.browser]


def look(page: Page, seconds: int = 11) -> None:
    """Let the page's clock reach the next look."""
    page.clock.fast_forward(seconds * 1000)


def arrives(session: Session, number: int) -> None:
    """One more call, as a fold writes it."""
    now = datetime.now(UTC)
    call_in(session, number=number, at=now, missed_tokens=90_000, miss_cause="ttl_expired_5m", miss_part="avoidable")
    Session.objects.filter(pk=session.pk).update(calls=number, last_at=now, folded_at=now)


def test_session__a_call_arrives__is_shown_without_a_reload_and_keeps_what_was_open(
    signed_in: Opener, world: World
) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(seconds=20))
    arrives(session, 2)
    page, complaints = watched(signed_in(viewport=WIDE))
    page.clock.install()
    page.goto(f"/sessions/{session.pk}/")
    page.evaluate("window.stays = true")
    assert "2 calls" in page.inner_text("h1")
    with page.expect_response(lambda answer: answer.status == 304):
        look(page)
    page.click("#loss-2 summary")
    is_open = page.evaluate("document.querySelector('#loss-2').open")
    page.focus("#c2 a")
    arrives(session, 3)
    look(page)
    page.wait_for_selector("h1 >> text=3 calls")
    assert page.is_visible("#c3")
    assert page.evaluate("window.stays")
    assert page.evaluate("document.querySelector('#loss-2').open") == is_open
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#c2"
    page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    assert [fault["id"] for fault in found if fault["impact"] in SEVERE] == []
    assert complaints == []


def test_session__that_ends__is_asked_for_no_more(signed_in: Opener, world: World) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(seconds=20))
    page, complaints = watched(signed_in(viewport=WIDE))
    page.clock.install()
    page.goto(f"/sessions/{session.pk}/")
    assert page.get_attribute("#follow", "hx-trigger") == "every 10s"
    Session.objects.filter(pk=session.pk).update(ended_at=datetime.now(UTC))
    look(page)
    page.wait_for_selector("#head >> text=ended")
    assert page.get_attribute("#follow", "hx-trigger") is None
    assert complaints == []


def test_session__without_script__is_looked_at_again_by_a_link(signed_in: Opener, world: World) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(seconds=20))
    page = signed_in(java_script_enabled=False, viewport=WIDE).new_page()
    page.goto(f"/sessions/{session.pk}/")
    arrives(session, 2)
    page.click("a:has-text('Look again')")
    assert "2 calls" in page.inner_text("h1")
