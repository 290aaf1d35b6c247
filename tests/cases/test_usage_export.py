"""Trap T43: Cursor's usage export, as a command brings it in."""

from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from sessions_app.models import Call, Session, Team
from tests.support import deliveries as story
from tests.support.inputs import TRAPS, traps


def run(*paths: Path) -> str:
    out = StringIO()
    call_command("import_usage", *map(str, paths), "--team", "a", stdout=out)
    story.fold_everything()
    return out.getvalue()


def test_export__of_three_rows__the_values_of_the_trap(teams: dict[str, Team]) -> None:
    wanted = traps()["T43"]["expectation"]
    told = run(TRAPS / "T43.csv")
    assert f"{wanted['turns']} requests new, 0 known, {wanted['errors']} refused" in told
    assert f"${wanted['reported_cost_usd']} reported, {wanted['rows_without_numeric_cost']} without a number" in told
    sessions = list(Session.objects.all())
    # No session of the host: the rows of a day stand together under a name that says so (ADR 9).
    assert [(s.host, s.host_session_id) for s in sessions] == [("cursor", "export:2026-11-02")]
    names = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "compactions")
    assert {name: sum(getattr(s, name) for s in sessions) for name in names} == {name: wanted[name] for name in names}
    assert (sessions[0].calls, sessions[0].host_cost_usd) == (wanted["turns"], Decimal(wanted["reported_cost_usd"]))
    # Nothing says that two rows shared a context, so there is no point of occupancy and no miss.
    assert not Call.objects.exclude(zone="").exists()
    assert not Call.objects.exclude(miss_cause="").exists()


def test_export__twice__counted_once(teams: dict[str, Team]) -> None:
    run(TRAPS / "T43.csv")
    assert "0 requests new, 3 known" in run(TRAPS / "T43.csv")
    assert Session.objects.get().calls == 3


def test_export__odd_rows__refused_alone_and_a_wrong_total_is_suspect(teams: dict[str, Team], tmp_path: Path) -> None:
    head = (TRAPS / "T43.csv").read_text().splitlines()[0]
    rows = (
        "2026-11-02T09:00:00.000Z,Included,gpt-5,No,0,500,0,50,9999,Included",
        "soon,Included,gpt-5,No,0,500,0,50,550,1",
        '2026-11-02T09:01:00.000Z,Included,gpt-5,No,0,"1,500",0,50,1550,1',
    )
    path = tmp_path / "usage.csv"
    path.write_text("\ufeff" + "\n".join([head, *rows]) + "\n", encoding="utf-8")
    assert "1 requests new, 0 known, 2 refused" in run(path)
    assert [w["code"] for w in Session.objects.get().warnings] == ["convention_suspect"]
    assert Call.objects.get().cost_usd is None


def test_export__of_something_else__said(teams: dict[str, Team], tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(CommandError, match="no usage export"):
        run(path)
