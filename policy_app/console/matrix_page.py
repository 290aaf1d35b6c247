"""The page that says what a policy can bring about where: host by operation, and what reaches whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from policy_app.console import door
from policy_app.console.parts import HOST_NAMES, who
from policy_app.kernel.levers import CHANNELS, LEVERS, TRIED, Channel, Force, Lever
from policy_app.kernel.operations import Operation

_OPERATIONS = {
    Operation.EXTERNALIZE: "externalize",
    Operation.PRUNE_TOOL_RESULTS: "prune tool results",
    Operation.COMPACT: "compact",
    Operation.HANDOFF_FRESH: "hand off to a fresh session",
    Operation.SUBAGENT_ISOLATE: "explore in a subagent",
    Operation.WRAP_UP: "wrap up",
    Operation.FINISH_AND_RETURN: "finish and return",
}
_CHANNELS = {
    Channel.TO_MODEL: "words to the model",
    Channel.TO_HUMAN: "words to the human",
    Channel.INTO_SUMMARY: "a wish to the summariser",
    Channel.PINS_BACK: "pins back after a compaction",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One lever: `force`, who acts (empty: nobody needs to) and by what."""

    force: str
    who: str
    by: str


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host with a cell per column; `tried` is the version that was run, if any."""

    name: str
    tried: str
    named: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class MatrixPage:
    """Two tables: operations, and what reaches whom."""

    operations: tuple[str, ...]
    hosts: tuple[HostRow, ...]
    channels: tuple[str, ...]
    reaches: tuple[HostRow, ...]
    finding: str


def matrix_page() -> MatrixPage:
    """The matrix as the kernel holds it; `continue` is left out, as it asks for nothing."""
    hosts = _rows(LEVERS, _OPERATIONS)
    cells = [cell for row in hosts for _, cell in row.named]
    enforced = sum(cell.force == Force.ENFORCED for cell in cells)
    return MatrixPage(
        operations=tuple(_OPERATIONS.values()),
        hosts=hosts,
        channels=tuple(_CHANNELS.values()),
        reaches=_rows(CHANNELS, _CHANNELS),
        finding=f"{enforced} of {len(cells)} cells are enforced; the rest is advice, or has no lever",
    )


def _rows[K: StrEnum](levers: Mapping[str, Mapping[K, Lever]], columns: Mapping[K, str]) -> tuple[HostRow, ...]:
    return tuple(
        HostRow(
            HOST_NAMES.get(host, host),
            TRIED.get(host, ""),
            tuple((name, _cell(by[column])) for column, name in columns.items()),
        )
        for host, by in levers.items()
    )


def _cell(lever: Lever) -> Cell:
    return Cell(lever.force.value, who(lever.addressee, lever.also), lever.by)


@require_GET
@door.for_members
def show_matrix(request: HttpRequest) -> HttpResponse:
    """`/policy/matrix/`."""
    door.member(request)
    return render(request, "policy/matrix.html", {"page": matrix_page(), "here": "policy"})
