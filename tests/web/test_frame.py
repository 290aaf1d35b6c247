"""What every page has: the policy of contents, the theme, the scope in its links."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from sessions_app.dashboard.views import THEME_COOKIE
from tests.support.world import World, build, session_in
from tests.web.pages import client_of, page

TEMPLATES = Path(settings.BASE_DIR) / "templates"


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_templates__none_of_them__has_inline_script_or_style() -> None:
    for path in TEMPLATES.rglob("*.*"):
        text = path.read_text()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text), path
        assert not re.search(r"<script(?![^>]*\ssrc=)", text), path
        assert "|safe" not in text, path


def test_styles__colours__are_tokens_that_know_light_and_dark() -> None:
    tokens, rules = (Path(settings.BASE_DIR) / "ecm_site/static/ecm/ecm.css").read_text().split("}", 1)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules)
    assert re.findall(r": (#[0-9a-fA-F]+)", tokens) == []
    assert "font-variant-numeric: tabular-nums" in rules


def test_frame__every_page__forbids_what_is_not_its_own(world: World) -> None:
    session = session_in(world.one, "a")
    client = client_of(world.users["viewer"])
    for address in ("/", "/sessions/", f"/sessions/{session.pk}/"):
        policy = client.get(address).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("system", ""), ("x", "")])
def test_theme__a_choice__is_kept_in_a_cookie(world: World, chosen: str, kept: str) -> None:
    client = client_of(world.users["viewer"])
    client.cookies[THEME_COOKIE] = "dark"
    response = client.post("/theme/", {"theme": chosen, "next": "/sessions/?sort=cost"})
    assert response.headers["Location"] == "/sessions/?sort=cost"
    assert response.cookies[THEME_COOKIE].value == kept
    markup = client.get("/").content.decode()
    assert (f'data-theme="{kept}"' in markup) is bool(kept)


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_theme__a_foreign_target__leads_home(world: World, target: str) -> None:
    response = client_of(world.users["viewer"]).post("/theme/", {"theme": "dark", "next": target})
    assert response.headers["Location"] == "/"


def test_theme__an_unknown_cookie__is_ignored(world: World) -> None:
    client = client_of(world.users["viewer"])
    client.cookies[THEME_COOKIE] = '"><script>'
    assert "data-theme" not in client.get("/").content.decode()


def test_frame__links__keep_team_and_period(world: World) -> None:
    session_in(world.two, "b")
    markup = page(world.users["organisation_admin"], "/sessions/?team=two&period=30d")
    assert 'href="/?team=two&amp;period=30d"' in markup
    assert '<input type="hidden" name="team" value="two">' in markup


def test_frame__teams__are_those_of_the_user(world: World) -> None:
    markup = page(world.users["organisation_admin"], "/")
    labels = re.findall(r'<li>\s*<a href="[^"]*"[^>]*>([^<]+)</a>', markup)
    assert labels == ["All teams", "One", "Two", "Demo"]
