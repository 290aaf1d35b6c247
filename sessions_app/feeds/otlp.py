"""OTLP over HTTP as JSON: exports flattened to records, each with the attributes that count.

Real exporters write integers as numbers, as strings and as string attributes; times may be "0" with the
moment in `observedTimeUnixNano` or in an attribute. A bad record is refused alone, with its pointer.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.husk import clean
from sessions_app.feeds.lines import decode
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import Reading

#: Attributes that are kept, by name. All others are dropped: they may hold what was said.
KEPT = frozenset(
    "event.name event.timestamp event.sequence session.id prompt.id model query_source agent.name speed effort"
    " input_tokens output_tokens cache_read_tokens cache_creation_tokens cost_usd cost_usd_micros duration_ms ttft_ms"
    " request_id client_request_id trigger success pre_tokens post_tokens precompute_reuse tool_name tool_use_id"
    " tool_result_size_bytes tool_input_size_bytes prompt_length command_name status_code attempt type start_type"
    " error_type service.name service.version".split()
)
#: Who a person is, by what telemetry says; only a digest of it is kept.
PERSON = ("user.account_uuid", "user.email", "user.id")


def records(body: bytes, kind: str) -> Iterator[tuple[str, Husk | Refused]]:
    """(pointer, flat record or refusal) of every log record or data point; Refused for a bad body."""
    export, _ = decode(body)
    if not isinstance(export, dict):
        raise Refused("not_an_object", "", "an OTLP export is an object")
    walk = _logs if kind == "log" else _points
    top = ("resourceLogs", "resource_logs") if kind == "log" else ("resourceMetrics", "resource_metrics")
    for pointer, resource in _each(export, top, ""):
        attributes = _attributes(_get(resource, "resource", default={}), pointer + "/resource")
        yield from walk(resource, pointer, attributes)


def _get(tree: Any, *names: str, default: Any = None) -> Any:
    if isinstance(tree, dict):
        for name in names:
            if name in tree:
                return tree[name]
    return default


def _each(tree: Any, names: tuple[str, ...], pointer: str) -> Iterator[tuple[str, Any]]:
    items = _get(tree, *names, default=[])
    for index, item in enumerate(items if isinstance(items, list) else []):
        yield f"{pointer}/{names[0]}/{index}", item


def _attributes(holder: Any, pointer: str) -> Husk:
    """Kept attributes of a holder as plain values; an attribute without a value says nothing."""
    found: Husk = {}
    people: dict[str, str] = {}
    for _, pair in _each(holder, ("attributes",), pointer):
        key = _get(pair, "key")
        if not isinstance(key, str) or (key not in KEPT and key not in PERSON):
            continue
        value = _plain(_get(pair, "value"))
        if value is None:
            continue
        if key in PERSON:
            people[key] = str(value)
        else:
            found[key] = clean(value) if isinstance(value, str) else value
    who = next((people[name] for name in PERSON if people.get(name)), None)
    if who:
        found["developer"] = hashlib.sha256(who.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
    return found


def _plain(value: Any) -> str | int | float | bool | None:
    for name in ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value", "double_value"):
        plain = _get(value, name)
        if isinstance(plain, str | int | float | bool):
            return plain
    return None


def _logs(resource: Any, pointer: str, shared: Husk) -> Iterator[tuple[str, Husk | Refused]]:
    for scope_pointer, scope in _each(resource, ("scopeLogs", "scope_logs"), pointer):
        for place, record in _each(scope, ("logRecords", "log_records"), scope_pointer):
            if not isinstance(record, dict):
                yield place, Refused("not_an_object", place, "a log record is an object")
                continue
            attributes = {**shared, **_attributes(record, place)}
            body = _plain(_get(record, "body"))
            name = attributes.get("event.name") or (body if isinstance(body, str) and len(body) < 80 else "")
            nanos = [_nanos(record, n, s) for n, s in (("timeUnixNano", "time_unix_nano"), _OBSERVED)]
            times = [*nanos, attributes.get("event.timestamp")]
            time = next((t for t in times if t), None)
            yield place, {"signal": "log", "event": clean(str(name)), "time": time, "attrs": attributes}


_OBSERVED = ("observedTimeUnixNano", "observed_time_unix_nano")


def _nanos(record: Husk, *names: str) -> int | None:
    """Nanoseconds as milliseconds; "0" and nonsense are absent."""
    value = _get(record, *names)
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return int(text) // 1_000_000 or None if text.isascii() and text.isdigit() and len(text) < 25 else None


def _points(resource: Any, pointer: str, shared: Husk) -> Iterator[tuple[str, Husk | Refused]]:
    for scope_pointer, scope in _each(resource, ("scopeMetrics", "scope_metrics"), pointer):
        for metric_pointer, metric in _each(scope, ("metrics",), scope_pointer):
            name = clean(str(_get(metric, "name", default="")))
            series = _get(metric, "sum", default={})
            for place, point in _each(series, ("dataPoints", "data_points"), metric_pointer + "/sum"):
                if not isinstance(point, dict):
                    yield place, Refused("not_an_object", place, "a data point is an object")
                    continue
                yield (
                    place,
                    {
                        "signal": "metric",
                        "event": name,
                        "temporality": clean(
                            str(_get(series, "aggregationTemporality", "aggregation_temporality", default=""))
                        ),
                        "start_ms": _nanos(point, "startTimeUnixNano", "start_time_unix_nano"),
                        "time": _nanos(point, "timeUnixNano", "time_unix_nano"),
                        "value": _get(point, "asInt", "asDouble", "as_int", "as_double"),
                        "attrs": {**shared, **_attributes(point, place)},
                    },
                )


def parse(body: bytes, context: Context, kind: str, read: Callable[[Husk, Context], tuple[Reading, ...]]) -> Parsed:
    """Read an export record by record."""
    parsed = Parsed()
    for position, (pointer, record) in enumerate(records(body, kind), 1):
        try:
            if isinstance(record, Refused):
                raise record
            parsed.items.append(Item(position, record, read(record, context)))
        except Refused as refused:
            inner = refused.pointer if refused.pointer.startswith(pointer) else pointer + refused.pointer
            parsed.refusals.append(Refusal(position, inner, refused.code, refused.message))
    return parsed


def time_of(record: Husk, context: Context) -> int | None:
    """When the record says that it happened (ms), if that is possible at all."""
    return moment(record.get("time"), context.received_ms).ms
