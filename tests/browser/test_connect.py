"""Sources, Connect and keys in a real browser: axe, widths, the live tick, copying, and all of it without script."""

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext

from sessions_app.models import Session
from tests.browser.conftest import Opener
from tests.browser.test_pages import WIDE, watched
from tests.support.deliveries import deliver, fold_everything, transcripts
from tests.support.world import World

pytestmark = [pytest.mark.browser]


def as_user(context: BrowserContext, world: World, name: str, url: str) -> None:
    """Sign the context in as somebody else."""
    client = Client()
    client.force_login(world.users[name])
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": url}])


def test_tick__when_a_way_speaks__shows_it_without_a_click_and_else_stays(signed_in: Opener, world: World) -> None:
    page, complaints = watched(signed_in(viewport=WIDE))
    page.goto("/connect/")
    assert "Nothing speaks yet." in page.inner_text("h1")
    page.evaluate("document.querySelector('#live').dataset.mine = 'stays'")
    with page.expect_response(lambda answer: answer.status == 304):
        pass
    assert page.evaluate("document.querySelector('#live').dataset.mine") == "stays"
    deliver(world.one, transcripts())
    fold_everything()
    page.wait_for_selector("#live >> text=28,505")
    assert page.evaluate("document.querySelector('#live').dataset.mine") is None
    assert complaints == []


def test_copy__a_snippet__is_on_the_clipboard_whole(signed_in: Opener, world: World) -> None:
    page = signed_in(viewport=WIDE, permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto("/connect/")
    page.click("button[data-copy=settings]")
    page.wait_for_selector("button:has-text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.text_content("#settings")


def test_pages__without_script__refresh_make_and_revoke(signed_in: Opener, world: World) -> None:
    context = signed_in(java_script_enabled=False, viewport=WIDE)
    page = context.new_page()
    page.goto("/connect/")
    assert not page.is_visible("button[data-copy=settings]")
    assert '"SessionStart"' in page.inner_text("#settings")
    deliver(world.one, transcripts())
    fold_everything()
    page.click("a:has-text('Look again')")
    assert "28,505" in page.inner_text("#live")
    as_user(context, world, "editor", page.url.split("/connect")[0])
    page.goto("/connect/keys/")
    page.fill("input[name=label]", "my laptop")
    page.click("button:has-text('Make a key')")
    assert page.inner_text("#new-key").startswith("ecmi_")
    page.click("button:has-text('Revoke')")
    assert "revoked" in page.inner_text("main table")


def test_billing__without_script__is_stated_by_an_admin(signed_in: Opener, world: World, story: Session) -> None:
    context = signed_in(java_script_enabled=False, viewport=WIDE)
    page = context.new_page()
    page.goto("/sources/")
    as_user(context, world, "admin", page.url.split("/sources")[0])
    page.goto("/sources/")
    page.select_option("select[name=mode]", "metered")
    page.click("button:has-text('State it')")
    assert page.input_value("select[name=mode]") == "metered"
    page.goto(f"/sessions/{story.pk}/")
    assert "List prices." not in page.inner_text("main")
