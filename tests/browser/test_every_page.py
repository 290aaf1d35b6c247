"""Every page address in a real browser: axe in two themes and widths, no complaint, no sideways scrolling."""

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from sessions_app.models import Session
from tests.browser.conftest import Opener
from tests.browser.test_pages import PHONE, SEVERE, WIDE, watched
from tests.support.every_page import ROLE, furnished
from tests.support.world import World

pytestmark = [pytest.mark.browser]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
#: All rules in light; of dark those that a theme can change.
RUN = {
    "light": "axe.run({resultTypes: ['violations']}).then(found => found.violations)",
    "dark": "axe.run({resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']})"
    ".then(found => found.violations)",
}


@pytest.fixture
def administrator(world: World, browser: Browser, live_server: LiveServer) -> Iterator[Opener]:
    """Opens contexts under the pages’ own policy; axe comes in by the debugger, which the policy does not concern."""
    client = Client()
    client.force_login(world.users[ROLE])
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    opened: list[BrowserContext] = []

    def open_context(**options: Any) -> BrowserContext:
        context = browser.new_context(base_url=live_server.url, **options)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
        opened.append(context)
        return context

    yield open_context
    for context in opened:
        context.close()


def faults(page: Page, address: str) -> list[str]:
    """Serious faults by axe, in both themes and widths."""
    found: list[str] = []
    page.evaluate(Axe().axe_script)
    for width in (WIDE, PHONE):
        page.set_viewport_size(width)
        if page.evaluate(SIDEWAYS):
            found.append(f"{address} scrolls sideways at {width['width']}")
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            found += [
                f"{address} {width['width']} {theme} {fault['id']}: {node['html'][:200]}"
                for fault in page.evaluate(RUN[theme])
                if fault["impact"] in SEVERE
                for node in fault["nodes"][:2]
            ]
    return found


def test_every_page__in_both_themes_and_widths__has_no_serious_fault(world: World, administrator: Opener) -> None:
    page, complaints = watched(administrator(viewport=WIDE))
    found: list[str] = []
    for address in furnished(world).values():
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        found += faults(page, address)
        if address.startswith("/?"):
            page.keyboard.press("?")
            found += faults(page, f"{address} with its keys")
        found += [f"{address}: {complaint}" for complaint in complaints]
        complaints.clear()
    assert found == []


def test_login_and_refusal__in_both_themes_and_widths__has_no_serious_fault(
    world: World, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url)
    page, complaints = watched(context)
    page.goto("/login")
    assert faults(page, "/login") == []
    assert complaints == []
    # What answers instead of a page; the browser complains of its status, rightly.
    page.goto("/enter/no-such-link")
    assert faults(page, "/enter/") == []
    context.close()


def test_pages__without_script_on_a_phone__are_walked_by_their_links(world: World, administrator: Opener) -> None:
    furnished(world)
    page = administrator(java_script_enabled=False, viewport=PHONE).new_page()
    page.goto("/?period=all")
    names = page.locator("nav.pages a").all_text_contents()
    assert len(names) >= 9
    for name in names:
        page.click(".pages-button")
        page.get_by_role("link", name=name, exact=True).click()
        assert page.locator("nav.pages a[aria-current]").text_content() == name
    page.goto("/")
    page.click("nav.periods a:has-text('All')")
    page.click("section[aria-labelledby=compacted] h2 a")
    page.click("a:has-text('worst')")
    assert "sort=net" in page.url
    page.goto("/tables/?period=all")
    page.click("a:has-text('By cause')")
    with page.expect_download() as download:
        page.click("a:has-text('CSV')")
    assert download.value.suggested_filename.endswith(".csv")


def test_forms__without_script_on_a_phone__do_what_they_say(world: World, administrator: Opener) -> None:
    places = furnished(world)
    page = administrator(java_script_enabled=False, viewport=PHONE).new_page()
    page.goto(places["v/<slug:public_id>"])
    page.click("button:has-text('Re-derive')")
    assert page.is_visible("text=Equal.")
    page.goto(places["sessions/<int:pk>/"])
    session = Session.objects.get(host_session_id="live")
    page.goto(f"/sessions/{session.pk}/")
    page.click("button:has-text('Mute this session')")
    assert page.is_visible("button:has-text('Say verdicts again')")
    page.goto("/prices/")
    page.fill("#add ~ form input[name=model]", "claude-sonnet-4-5")
    for name, value in (("input", "2"), ("output", "9"), ("source", "a contract")):
        page.fill(f"#add ~ form input[name={name}]", value)
    page.click("button:has-text('Add the row')")
    page.goto("/prices/claude-sonnet-4-5/")
    assert page.is_visible("text=a contract")
    page.click("button:has-text('Sign out')")
    assert page.url.endswith("/login")
