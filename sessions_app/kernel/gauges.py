"""Samples of the host's own gauge in the order in which they were taken, and the windows that they state.

A sample carries no clock, only how long its process has run and when it was received. A delivery may be
late and in any order, and a resumed session counts its time anew; the two tell apart only together.
"""

from collections.abc import Iterable, Mapping

from sessions_app.kernel import names
from sessions_app.kernel.readings import MeterReading

#: A process that began this long after the newest sample of another one is another process.
RESTART_MS = 10_000


def in_order(meters: Iterable[MeterReading]) -> list[MeterReading]:
    """By process, and inside a process by its own time."""
    placed: list[tuple[int, int, int, str, MeterReading]] = []
    run, longest, newest = 0, 0, 0
    for meter in sorted(meters, key=lambda m: (m.received_ms or 0, m.uptime_ms or 0, m.key)):
        uptime, received = meter.uptime_ms or 0, meter.received_ms or 0
        began = received - (uptime if meter.first_uptime_ms is None else meter.first_uptime_ms)
        if uptime < longest and began > newest + RESTART_MS:
            run, longest = run + 1, 0
        longest, newest = max(longest, uptime), received
        placed.append((run, uptime, received, meter.key, meter))
    return [meter for *_, meter in sorted(placed, key=lambda p: p[:4])]


def stated_windows(meters: Iterable[MeterReading]) -> dict[str, int]:
    """Windows that the host stated, by model: the newest of each under its plain name, marked names also by themselves.

    The status line marks a model (`[1m]`) or routes it through a cloud where the transcript has the plain name.
    """
    found: dict[str, int] = {}
    for meter in in_order(meters):
        if meter.window:
            model = meter.model[1] if meter.model else ""
            found[names.normalise(model)] = meter.window
            if names.has_window_mark(model):
                found[model] = meter.window
    return found


def stated_window(model: str, stated: Mapping[str, int]) -> int | None:
    """The window stated for a call's model, else the one stated without a model."""
    exact = stated.get(model) if names.has_window_mark(model) else None
    return exact or stated.get(names.normalise(model)) or stated.get("")
