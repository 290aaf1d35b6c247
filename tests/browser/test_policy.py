"""Policies in a browser: one drafts, another approves, a third who edited cannot; and back again."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from policy_app.models import Draft, Policy
from policy_app.services import drafting, installing, tables
from policy_app.services.actors import Actor
from sessions_app.models import Role
from tests.support.world import NOW, World, call_in, session_in, user_of

pytestmark = [pytest.mark.browser]

type Visitor = Callable[..., Page]


@pytest.fixture
def visit(world: World, browser: Browser, live_server: LiveServer) -> Iterator[Visitor]:
    """`visit(role, **options)`: a page of that person's own context, in a world with the default policy."""
    installing.ensure_default(organisation_id=world.mine.pk, four_eyes=True, now=NOW)
    world.users["third"] = user_of("third", world.mine, None, Role.ADMIN)
    opened: list[BrowserContext] = []

    def open_page(role: str, **options: Any) -> Page:
        client = Client()
        client.force_login(world.users[role])
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        context = browser.new_context(base_url=live_server.url, **options)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
        opened.append(context)
        return context.new_page()

    yield open_page
    for context in opened:
        context.close()


def drafted(world: World) -> Draft:
    """A draft of the editor's with RED at 65%."""
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    user = world.users["editor"]
    by = Actor(user.pk, user.username, world.mine.pk, may_edit=True)
    draft = drafting.start(policy=policy, title="RED earlier", by=by, now=NOW)
    content = tables.document_of(draft.content)
    content["zones"]["red"] = "0.65"
    return drafting.edit(draft=draft, revision=1, content=content, by=by, now=NOW)


def said(page: Page, button: str, words: str) -> None:
    """Fill in the reason beside a button, and press it."""
    form = page.locator("form", has=page.get_by_role("button", name=button, exact=True))
    form.locator("[name=reason]").fill(words)
    form.get_by_role("button", name=button, exact=True).click()


def test_life__without_javascript__goes_from_draft_to_version_and_back(world: World, visit: Visitor) -> None:
    author = visit("editor", java_script_enabled=False)
    author.goto("/policy/default/")
    author.get_by_label("What do you want to change?").fill("RED earlier")
    author.get_by_role("button", name="Start a draft").click()
    author.get_by_label("RED begins at").fill("65%")
    author.get_by_role("button", name="Save").first.click()
    expect(author.get_by_text("RED from 75% to 65%.")).to_be_visible()
    draft = author.url.partition("#")[0]

    third = visit("third", java_script_enabled=False)
    third.goto(draft)
    third.get_by_label("CRITICAL begins at").fill("85%")
    third.get_by_role("button", name="Save").first.click()

    author.goto(f"{draft}review")
    said(author, "Ask for review", "Nine of 41 compactions came too late.")
    third.goto(f"{draft}review")
    expect(third.get_by_role("button", name="Approve")).to_be_disabled()
    expect(third.get_by_text("You edited this draft (revision 3)")).to_be_visible()
    said(third, "Comment", "CRITICAL at 85% was mine.")
    expect(third.get_by_text("third says of revision 3")).to_be_visible()

    boss = visit("organisation_admin", java_script_enabled=False)
    boss.goto(f"{draft}review")
    said(boss, "Approve", "The numbers hold.")
    said(boss, "Publish", "From today on.")
    expect(boss.get_by_text("Published: it is in force now.")).to_be_visible()

    boss.goto("/policy/default/history")
    boss.get_by_text("Bring version 1 back").click()
    said(boss, "Publish its content again", "It was too early.")
    expect(boss.get_by_role("heading", name="Version 3")).to_be_visible()


def order(page: Page) -> list[str]:
    """The rules as they stand on the page."""
    return page.locator("details.rule > summary .id").all_inner_texts()


def test_editor__by_keys_alone__moves_duplicates_switches_off_and_edits(world: World, visit: Visitor) -> None:
    page = visit("editor")
    page.goto(f"/policy/drafts/{drafted(world).pk}/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#rule-P2")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert order(page)[:3] == ["P1", "P3", "P2"]
    # The keyboard goes on where the rule went.
    expect(page.locator("#rule-P2")).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#rule-P2").get_by_text("switched off")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#edit-P8")).to_be_visible()
    expect(page.locator("#rule-P8")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#rule-P2")).to_be_focused()
    page.keyboard.press("Enter")
    edited = page.locator("#edit-P2")
    expect(edited.get_by_label("Name", exact=True)).to_be_focused()
    # In a field, keys write.
    because = edited.get_by_label("Because")
    because.focus()
    page.keyboard.type("dx?")
    expect(because).to_have_value(re.compile(r"dx\?"))
    page.keyboard.press("Escape")
    expect(page.locator("#rule-P2")).to_be_focused()
    expect(edited).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_text("Each of them is a button too")).to_be_visible()


def test_editor__while_typing__says_what_it_would_mean_and_saves_nothing(world: World, visit: Visitor) -> None:
    draft = drafted(world)
    page = visit("editor")
    page.goto(f"/policy/drafts/{draft.pk}/")
    page.get_by_label("RED begins at").fill("95%")
    expect(page.locator("#said")).to_contain_text("must be above the RED line")
    page.get_by_label("RED begins at").fill("60%")
    expect(page.locator("#said")).to_contain_text("of what you typed, not saved")
    expect(page.locator("#said")).to_contain_text("RED is 60%, its argument speaks of 75%")
    draft.refresh_from_db()
    assert draft.revision == 2
    page.get_by_role("button", name="still holds").first.click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_text("argument no longer matches")).to_have_count(0)
    draft.refresh_from_db()
    assert tables.document_of(draft.content)["zones"]["red"] == "0.6"


def test_editor__with_recorded_sessions__counts_them_beside_each_rule(world: World, visit: Visitor) -> None:
    now = datetime.now(UTC)
    session = session_in(world.one, "seen", at=now)
    call_in(session, number=2, at=now, occupancy=140_000, known_window=200_000)
    page = visit("editor")
    page.goto(f"/policy/drafts/{drafted(world).pk}/")
    expect(page.get_by_text("It would have said “compact” in 1 of 1 session, now 0")).to_be_visible()
    expect(page.locator("[data-hits=P3]")).to_have_text("1")


def test_pins__typed_with_the_keyboard__are_counted_and_shown_as_injected(world: World, visit: Visitor) -> None:
    installing.ensure_pins(organisation_id=world.mine.pk, four_eyes=True, now=NOW)
    page = visit("editor", viewport={"width": 390, "height": 900})
    page.goto("/policy/pins/default/")
    page.get_by_label("What do you want to change?").fill("Units")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add a pin").press("Enter")
    before = page.locator("#size").inner_text()
    page.get_by_label("Text, word for word").last.fill("Sizes are in tokens.")
    expect(page.get_by_text("as typed, not saved")).to_be_visible()
    expect(page.locator("#injected")).to_contain_text("[pin_1] Sizes are in tokens.")
    assert page.locator("#size").inner_text() != before
    page.get_by_label("Why it must survive").last.press("Enter")
    expect(page.get_by_text("Pin pin_1 is new (T0): “Sizes are in tokens.”")).to_be_visible()
