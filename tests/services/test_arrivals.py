"""What a newly connected host is told to have spoken: each way with its number, none before it has one."""

from datetime import timedelta

import pytest

from sessions_app.models import Organisation, Team
from sessions_app.services.arrivals import arrivals
from tests.support import deliveries as story


@pytest.fixture
def team(db: None) -> Team:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=story.NOW)
    return Team.objects.create(organisation=organisation, slug="a", name="A", created_at=story.NOW)


def heard(team: Team) -> dict[str, int | None]:
    found = arrivals(team_id=team.pk, since=story.NOW - timedelta(seconds=1))
    return {arrival.way: arrival.tokens for arrival in found}


def test_arrivals__before_the_first_call__only_the_hook_spoke(team: Team) -> None:
    sample = (story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes()
    story.deliver(team, [story.hooks()[0], story.Delivery("claude-code-statusline", sample.splitlines()[0])])
    assert heard(team) == {"hook": None}


def test_arrivals__after_the_story__each_way_with_the_number_of_the_last_call(team: Team) -> None:
    sample = (story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes()
    samples = [story.Delivery("claude-code-statusline", line) for line in sample.splitlines()]
    story.deliver(team, story.whole_story() + samples)
    assert heard(team) == {"hook": None, "status line": 28_505, "telemetry": 28_505, "transcript": 28_505}


def test_arrivals__of_another_team__not_told(team: Team) -> None:
    other = Team.objects.create(organisation=team.organisation, slug="b", name="B", created_at=story.NOW)
    story.deliver(other, story.whole_story())
    assert heard(team) == {}
