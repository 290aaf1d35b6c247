"""The view for SQL tools, and the dashboard that stands on it."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction

from sessions_app.models import Team
from tests.support.story import recorded

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "ecm.json"


def rows(statement: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [*cursor.fetchall()]


def test_ecm_calls__the_recorded_story__its_sums(teams: dict[str, Team]) -> None:
    recorded(teams["A"])
    sums = "count(*), sum(uncached_input), sum(cache_read), sum(cache_write_5m + cache_write_1h), sum(output)"
    (found,) = rows(f"SELECT {sums}, sum(cost_usd), sum(needed_usd) + sum(miss_cost_usd) FROM ecm_calls")
    assert found == (10, 53, 472_200, 324_500, 4_450, Decimal("1.428819"), Decimal("1.428819"))
    assert rows("SELECT DISTINCT team, project, branch, host FROM ecm_calls") == [
        ("a", "acme-api", "master", "claude-code")
    ]


@pytest.mark.parametrize("statement", ["UPDATE ecm_calls SET cost_usd = 0", "DELETE FROM ecm_calls"])
def test_ecm_calls__written_to__refused(teams: dict[str, Team], statement: str) -> None:
    recorded(teams["A"])
    with pytest.raises(DatabaseError), transaction.atomic():
        rows(statement)


def test_grafana__each_panel__its_query_runs_and_brings_lines(teams: dict[str, Team]) -> None:
    recorded(teams["A"])
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    assert len(panels) == 6
    for panel in panels:
        (target,) = panel["targets"]
        # What Grafana puts in place of its macros.
        statement = (
            target["rawSql"].replace("$team", "'a'").replace("$__timeFilter(started_at)", "started_at > '2020-01-01'")
        )
        assert rows(statement), panel["title"]
