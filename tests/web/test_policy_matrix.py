"""The page of what a policy can bring about, and its twin in the docs."""

import re
from pathlib import Path

import pytest
from django.test import Client

from policy_app.console.matrix_page import matrix_page
from policy_app.kernel.levers import CHANNELS, LEVERS, Channel, Force
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import HOSTS
from tests.support.world import build

DOC = Path(__file__).parents[2] / "docs" / "enforceability.md"


def test_levers__every_host__has_every_operation_and_channel() -> None:
    assert set(LEVERS) == set(CHANNELS) == set(HOSTS)
    assert all(set(levers) == set(Operation) for levers in LEVERS.values())
    assert all(set(channels) == set(Channel) for channels in CHANNELS.values())


def test_channels__that_reach_nobody__name_no_addressee() -> None:
    cells = [lever for channels in CHANNELS.values() for lever in channels.values()]
    assert all(lever.addressee == "nobody" for lever in cells if lever.force is Force.IMPOSSIBLE)
    assert all(lever.by for lever in cells)


@pytest.mark.django_db
def test_matrix__page__says_each_cell_in_words(client: Client) -> None:
    client.force_login(build().users["viewer"])
    html = client.get("/policy/matrix/").content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert "Claude Code tried with 2.1.197" in text
    assert "compaction.prune" in text
    assert html.count("<td") == len(HOSTS) * (7 + 4)


def test_docs__matrix__as_the_kernel_holds_it() -> None:
    assert table(matrix_page().operations, "hosts") in DOC.read_text()
    assert table(matrix_page().channels, "reaches") in DOC.read_text()


def table(columns: tuple[str, ...], name: str) -> str:
    """A table of the page in Markdown."""
    rows = [["host", *columns], ["---"] * (len(columns) + 1)]
    for row in getattr(matrix_page(), name):
        cells = [f"**{c.force}**: {f'{c.who}, ' if c.who else ''}{c.by}" for _, c in row.named]
        rows.append([f"{row.name}{f' ({row.tried})' if row.tried else ''}", *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
