"""What other places embed: a branch's bill and a session's badge."""

import pytest

from tests.api.conftest import Caller
from tests.support.story import recorded
from tests.support.world import World, session_in


@pytest.mark.parametrize("name", ["acme-api/feat-login", "acme-api/feat/login", "github.com/acme/acme-api/feat/login"])
def test_branch_bill__by_any_of_its_names__sums_of_its_sessions(world: World, ask: Caller, name: str) -> None:
    session = recorded(world.one)
    assert session.project is not None
    session.project.name = "github.com/acme/acme-api"
    session.project.save()
    type(session).objects.filter(pk=session.pk).update(branch="feat/login")
    answer = ask("read_key", f"/b/{name}.md")
    text = answer.content.decode()
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    assert "1 session, 10 calls, **$1.43** at list price" in text
    assert "The cache saved $1.03. 1 compaction." in text
    assert f"/s/{session.pk}" in text


def test_branch_bill__names_that_a_client_made_up__do_nothing(world: World, ask: Caller) -> None:
    session = recorded(world.one)
    type(session).objects.filter(pk=session.pk).update(branch="x](javascript:alert(1))<img/src=x>")
    text = ask("read_key", "/b/acme-api/x](javascript:alert(1))<img-src=x>.md").content.decode()
    assert "\\](javascript" not in text
    assert "<img" not in text.replace("\\<img", "")


@pytest.mark.parametrize("name", ["acme-api/none", "acme-api", "a/" * 40 + "b", "//x", "%00/x"])
def test_branch_bill__no_such_branch__404(world: World, ask: Caller, name: str) -> None:
    recorded(world.one)
    assert ask("read_key", f"/b/{name}.md").status_code == 404


def test_embedded__of_others_or_by_an_ingest_key__refused(world: World, ask: Caller) -> None:
    foreign = recorded(world.foreign)
    assert ask("read_key", "/b/acme-api/master.md").status_code == 404
    assert ask("read_key", f"/s/{foreign.pk}/badge.svg").status_code == 404
    assert ask("ingest_key", f"/s/{foreign.pk}/badge.svg").status_code == 403
    assert ask("stranger", f"/s/{foreign.pk}/badge.svg").status_code == 401


def test_badge__recorded_story__zone_and_price(world: World, ask: Caller) -> None:
    session = recorded(world.one)
    answer = ask("read_key", f"/s/{session.pk}/badge.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert "RED 76%" in answer.content.decode()
    assert "$1.43" in answer.content.decode()


def test_badge__nothing_known__says_unknown(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", peak_occupancy=None, peak_zone="UNKNOWN", cost_usd=None, window=None)
    assert "UNKNOWN" in ask("read_key", f"/s/{session.pk}/badge.svg").content.decode()
