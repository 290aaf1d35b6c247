"""The pages in a real browser: rules of accessibility, no sideways scrolling, no error, no script needed."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, ViewportSize

from sessions_app.models import Session
from tests.browser.conftest import Opener
from tests.support.live import live_in
from tests.support.world import NOW, World, call_in, session_in

pytestmark = [pytest.mark.browser]

PHONE: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1440, "height": 900}
SEVERE = ("serious", "critical")


def watched(context: BrowserContext) -> tuple[Page, list[str]]:
    """A page, and whatever its console or its scripts complain about."""
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


def test_pages__without_script__navigate_filter_sort_and_change_theme(signed_in: Opener, story: Session) -> None:
    page = signed_in(java_script_enabled=False, viewport=WIDE).new_page()
    page.goto("/?period=all")
    page.click("nav.pages a:has-text('Sessions')")
    page.select_option("select[name=zone]", "GREEN")
    page.click("button:has-text('Filter')")
    assert "No session passes this filter" in page.inner_text("[role=status]")
    page.click("a:has-text('Clear')")
    page.click("nav.sorts a:has-text('cost')")
    page.click("table.cards tbody th a")
    assert "10 calls, $1.43 at list price." in page.inner_text("h1")
    page.click("button:has-text('dark')")
    assert page.get_attribute("html", "data-theme") == "dark"
    assert page.url.endswith(f"/sessions/{story.pk}/?period=all")


def test_sessions__filtered_by_htmx__change_the_results_and_the_address(signed_in: Opener, story: Session) -> None:
    page, complaints = watched(signed_in(viewport=WIDE))
    page.goto("/sessions/?period=all")
    page.evaluate("window.stays = true")
    page.click("nav.sorts a:has-text('cost')")
    page.wait_for_url("**sort=cost**")
    page.select_option("select[name=zone]", "GREEN")
    page.click("button:has-text('Filter')")
    page.wait_for_selector("text=No session passes this filter")
    assert "zone=GREEN" in page.url
    assert "sort=cost" in page.url
    assert page.evaluate("window.stays")
    page.go_back()
    page.wait_for_selector("table.cards tbody tr")
    assert complaints == []


def test_session__a_link_to_a_call__shows_it_on_whatever_page_it_is(
    signed_in: Opener, world: World, story: Session
) -> None:
    session = session_in(world.one, "long", calls=150)
    for number in range(2, 151):
        call_in(session, number=number, at=NOW + timedelta(seconds=number))
    page, complaints = watched(signed_in(viewport=WIDE))
    page.goto(f"/s/{session.pk}#c140")
    page.wait_for_selector("#c140")
    assert page.evaluate("document.querySelector('#c140').matches(':target')")
    assert complaints == []


def test_keyboard__shortcuts__lead_to_pages_and_the_filter(signed_in: Opener, story: Session) -> None:
    page = signed_in(viewport=WIDE).new_page()
    page.goto("/?period=all")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_selector("input[name=text]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "text"


def test_keyboard__a_question_mark__lists_the_keys_and_escape_closes_them(signed_in: Opener, story: Session) -> None:
    page, complaints = watched(signed_in(viewport=WIDE))
    page.goto(f"/sessions/{story.pk}/")
    page.keyboard.press("?")
    assert page.is_visible("#keys >> text=Keys on every page")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/cache/**")
    assert complaints == []


def test_frame__on_a_phone_without_script__takes_two_rows_and_opens_the_pages(
    signed_in: Opener, story: Session
) -> None:
    page = signed_in(viewport=PHONE, java_script_enabled=False).new_page()
    page.goto("/?period=all")
    frame = page.locator("header.site").bounding_box()
    assert frame is not None
    assert frame["height"] < 110
    assert not page.is_visible("nav.pages")
    page.focus(".pages-button")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/**")
    page.click("button:has-text('Keys')")
    assert page.is_visible("#keys >> text=Keys on every page")


def test_overview__what_is_live__asks_for_itself_and_keeps_the_rest(signed_in: Opener, world: World) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(minutes=2))
    page, complaints = watched(signed_in(viewport=WIDE))
    page.clock.install()
    page.goto("/")
    page.focus(f"#now-{session.pk}")
    page.evaluate("document.querySelector('h1').dataset.mine = 'stays'")
    live_in(world.one, "another", datetime.now(UTC), ago=timedelta(minutes=1))
    page.clock.fast_forward(31_000)
    page.wait_for_selector("#now >> text=2 sessions in the last 30 minutes")
    assert page.evaluate("document.querySelector('h1').dataset.mine") == "stays"
    assert page.evaluate("document.activeElement.id") == f"now-{session.pk}"
    Session.objects.update(ended_at=datetime.now(UTC))
    page.clock.fast_forward(31_000)
    page.wait_for_selector("#now >> text=No session said anything in the last 30 minutes.")
    assert complaints == []


def test_keyboard__the_first_tab__offers_to_skip_to_the_content(signed_in: Opener, story: Session) -> None:
    page = signed_in(viewport=WIDE).new_page()
    page.goto("/?period=all")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_pages__hostile_names__run_nothing(signed_in: Opener, world: World, story: Session) -> None:
    text = "</script><script>alert(4)</script><img src=x onerror=alert(5)>"
    session = session_in(world.one, "x", branch=text, model=text, version=text[:60])
    page, complaints = watched(signed_in(viewport=WIDE))

    def dismiss(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    for address in ("/?period=all", "/sessions/?period=all", f"/sessions/{session.pk}/"):
        page.goto(address)
        assert text in page.inner_text("main")
    assert complaints == []
