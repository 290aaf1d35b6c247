"""The table feed × case: what each test says of its feed, with its counts, printed at the end."""

import os
from collections import defaultdict

import pytest

from tests.support.world import World, build


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams, users and keys."""
    return build()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Passed of all, by feed and case; tests say their feed, case and count by `record_property`."""
    table: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(report.user_properties)
            if "feed" in told and report.when == "call":
                cell = table[str(told["feed"])][str(told["case"])]
                cell[0] += int(told.get("n", 1)) if outcome == "passed" else 0
                cell[1] += int(told.get("n", 1))
    # The whole suite says little where all is well; `make conformance` asks for the table.
    if not table or "ECM_MUTATIONS" not in os.environ:
        return
    cases = sorted({case for row in table.values() for case in row})
    terminalreporter.section("conformance: passed / tried")
    terminalreporter.write_line(" " * 26 + "".join(f"{case:>20}" for case in cases))
    for feed in sorted(table):
        cells = (table[feed].get(case) for case in cases)
        texts = ("-" if cell is None else f"{cell[0]:,}/{cell[1]:,}" for cell in cells)
        terminalreporter.write_line(f"{feed:26}" + "".join(f"{text:>20}" for text in texts))
