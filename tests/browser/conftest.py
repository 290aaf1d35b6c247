"""A Chromium, a server on this test's database, and a context that is signed in."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from pytest_django.live_server_helper import LiveServer

from sessions_app.models import Session
from tests.support.story import recorded
from tests.support.world import World, build

CHROMIUM = os.environ.get("ECM_CHROMIUM", "/usr/bin/chromium")

type Opener = Callable[..., BrowserContext]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; the tests that need it are skipped where there is none."""
    if not os.path.exists(CHROMIUM):
        pytest.skip(f"no Chromium at {CHROMIUM}; set ECM_CHROMIUM")
    # Playwright runs a loop in this thread, in which Django would otherwise refuse to touch the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def world(transactional_db: None) -> World:
    """Two organisations with teams and users."""
    return build()


@pytest.fixture
def story(world: World) -> Session:
    """The recorded story, of team one."""
    return recorded(world.one)


@pytest.fixture
def signed_in(world: World, browser: Browser, live_server: LiveServer) -> Iterator[Opener]:
    """Opens contexts of the viewer of team one; options are those of a browser context."""
    client = Client()
    client.force_login(world.users["viewer"])
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
