"""Pages of the policies, as they are read."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from policy_app.services import installing
from tests.support.world import NOW, World, build
from tests.web.pages import page, words


@pytest.fixture
def world(db: None) -> World:
    """Two organisations; `mine` has the default policy with four eyes."""
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    return made


def test_list__a_fresh_organisation__shows_the_default_policy(world: World) -> None:
    text = words(page(world.users["viewer"], "/policy/"))
    assert "Default policy" in text
    assert "version 1" in text
    assert "every scope to which no other policy is assigned" in text


def test_list__an_organisation_without_policies__says_so(world: World) -> None:
    assert "There is no policy yet." in words(page(world.users["foreign_admin"], "/policy/"))


def test_policy__its_rules__are_sentences_with_who_can_do_them(world: World) -> None:
    text = words(page(world.users["viewer"], "/policy/default/"))
    assert "When RED and depth < 2, compact." in text
    assert "enforced: Claude Code (a setting and you)" in text
    assert "impossible: Claude Code" in text
    assert "Your policy’s lines" in text
    assert "Users who set a trigger of their own set it at 60 to 75%" in text
    assert "version 1, installation" in text


def test_policy__its_files__can_be_taken_away(world: World) -> None:
    links = re.findall(r'href="(/api/[^"]+)"', page(world.users["viewer"], "/policy/default/"))
    files = [page(world.users["viewer"], link) for link in links]
    assert len(files) == 2
    assert "sha256" in files[0]
    assert files[1].startswith("{")


def test_history__one_version__is_there_with_its_reason(world: World) -> None:
    text = words(page(world.users["viewer"], "/policy/default/history?from=1&to=1"))
    assert "The table that ships with this release." in text
    assert "Nothing differs." in text


def test_audit__its_chain__is_computed_again(world: World) -> None:
    text = words(page(world.users["viewer"], "/policy/audit/?action=version.published"))
    assert "holds" in text
    assert "policy/default/version/1" in text
    assert "No entry fits." in words(page(world.users["viewer"], "/policy/audit/?subject=nothing"))


def test_templates__no_line__is_called_a_threshold_of_quality() -> None:
    for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html"):
        text = " ".join(path.read_text().lower().split())
        assert "threshold" not in text, path
        assert "quality limit" not in text, path
        assert "quality line" not in text, path
