"""Token and cost counters of Claude Code. They tell the same tokens as its calls; the fold chooses."""

from sessions_app.feeds.base import Context, Husk
from sessions_app.feeds.claude_record import Record
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import CounterReading, Reading, Source

LEAVES = {"input": "uncached_input", "output": "output", "cacheRead": "cache_read", "cacheCreation": "cache_write"}
DELTA = frozenset(("1", "AGGREGATION_TEMPORALITY_DELTA"))


def read_point(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one data point. Refused: amounts that are none.

    A delta is named by series, start and time, so a retried export is the same point; a cumulative run by
    series and start alone, so its highest value stays and a restart begins another.
    """
    point = Record(flat, context, Source.OTLP_METRIC)
    leaf = _leaf(point)
    value = flat.get("value")
    if not leaf or not point.session or not point.is_ours or value is None:
        return ()
    amount = nanodollars(value, "/value") if leaf == "cost_nanousd" else token_count(value, "/value")
    start_ms = moment(flat.get("start_ms"), context.received_ms).ms
    run = f"{flat.get('series')}:{start_ms}"
    counter = CounterReading(
        **point.base(),
        key=f"{run}:{point.at_ms}" if str(flat.get("temporality")) in DELTA else run,
        leaf=leaf,
        model=point.text("model"),
        query_source=point.text("query_source"),
        value=amount or 0,
        start_ms=start_ms,
        at_ms=point.at_ms,
    )
    return (counter, point.facts(None, {}))


def is_sessionless(flat: Husk, context: Context) -> bool:
    """Whether a counter of tokens or cost says nothing of its session, as hosts can be told to export."""
    point = Record(flat, context, Source.OTLP_METRIC)
    return bool(_leaf(point)) and point.is_ours and not point.session


def _leaf(point: Record) -> str | None:
    if point.name == "cost.usage":
        return "cost_nanousd"
    return LEAVES.get(point.text("type")) if point.name == "token.usage" else None
