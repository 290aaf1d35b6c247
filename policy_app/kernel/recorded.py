"""What is known of an organisation's sessions, as far as it bears on a table: who tells what, and how high it went."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from policy_app.kernel.findings import Finding
from policy_app.kernel.lint import unable_hosts
from policy_app.kernel.liveness import Coverage, History, Seen, liveness_findings
from policy_app.kernel.table import Table
from policy_app.kernel.zones import working_window


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest values of one model's calls; None where nobody told one. Shares are exact."""

    model: str
    calls: int
    utilization: Fraction | None
    context_tokens: int | None
    depth: int | None
    tool_result_share: Fraction | None
    externalize_age_calls: int | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """`coverage` None: nobody has reported yet. `hosts` are those that report, `peaks` of the newest days."""

    coverage: Coverage | None
    hosts: tuple[str, ...]
    peaks: tuple[Peak, ...]


def recorded_findings(table: Table, recorded: Recorded | None) -> tuple[Finding, ...]:
    """Rules that sleep, are idle, or cannot be carried out where sessions run; nothing where nothing is known."""
    if recorded is None:
        return ()
    history = history_of(table, recorded.peaks) if recorded.peaks else None
    return (*liveness_findings(table, recorded.coverage, history), *unable_hosts(table, recorded.hosts))


def history_of(table: Table, peaks: Sequence[Peak]) -> History:
    """The peaks by signal, as `table` reads them: of the smaller of the window and its working window."""
    return {
        "utilization": _seen((_utilization(table, peak), peak.calls) for peak in peaks),
        "context_tokens": _seen((peak.context_tokens, peak.calls) for peak in peaks),
        "depth": _seen((peak.depth, peak.calls) for peak in peaks),
        "tool_result_share": _seen((peak.tool_result_share, peak.calls) for peak in peaks),
        "externalize_age_calls": _seen((peak.externalize_age_calls, peak.calls) for peak in peaks),
    }


def _utilization(table: Table, peak: Peak) -> Fraction | None:
    """Tokens of the smaller of two windows are the larger of two shares, so the largest share is one of two peaks."""
    working = working_window(table.working_windows, peak.model or None)
    if working is None or peak.context_tokens is None:
        return peak.utilization
    return max(Fraction(peak.context_tokens, working), peak.utilization or Fraction(0))


def _seen(values: Iterable[tuple[Fraction | int | None, int]]) -> Seen:
    known = [(value, calls) for value, calls in values if value is not None]
    return Seen(max((value for value, _ in known), default=None), sum(calls for _, calls in known))
