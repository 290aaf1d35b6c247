"""OTLP over HTTP, JSON or protobuf: exports taken apart into records, each reduced, marked with its host and read.

A bad record is refused alone, with its pointer. Who wrote a record is told by its shape (`otlp_hosts`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.feeds import otlp_flat, otlp_protobuf
from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.bodies import LARGEST, too_many
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import decode
from sessions_app.feeds.otlp_flat import AMOUNTS, Kind, Pairs, get, pairs
from sessions_app.feeds.times import Moment, moment
from sessions_app.kernel.readings import Reading

__all__ = ["Kind", "parse", "records", "time_of"]

type Names = tuple[str, str]
type Read = Callable[[Husk, Context], tuple[Reading, ...]]
#: The slug of the host that wrote a flat record.
type Teller = Callable[[Husk], str]

_TOP: dict[Kind, Names] = {
    Kind.LOGS: ("resourceLogs", "resource_logs"),
    Kind.METRICS: ("resourceMetrics", "resource_metrics"),
    Kind.SPANS: ("resourceSpans", "resource_spans"),
}
_LEVELS: dict[Kind, tuple[Names, Names]] = {
    Kind.LOGS: (("scopeLogs", "scope_logs"), ("logRecords", "log_records")),
    Kind.METRICS: (("scopeMetrics", "scope_metrics"), ("metrics", "metrics")),
    Kind.SPANS: (("scopeSpans", "scope_spans"), ("spans", "spans")),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A log record, data point or span: where, as sent, and its flat husk or why there is none."""

    pointer: str
    raw: Any
    flat: Husk | Refused


def parse(body: bytes, context: Context, kind: Kind, read: Read, host_of: Teller | None = None) -> Parsed:
    """Read an export record by record. Raises Refused for a body in which no record can be told apart."""
    parsed = Parsed()
    export = otlp_protobuf.decode(body, kind) if context.protobuf else decode(body, LARGEST)[0]
    for position, found in enumerate(records(export, kind), 1):
        if position > otlp_protobuf.MOST_RECORDS:
            raise too_many(otlp_protobuf.MOST_RECORDS)
        try:
            if isinstance(found.flat, Refused):
                raise found.flat
            if host_of is not None:
                found.flat["host"] = host_of(found.flat)
            parsed.items.append(Item(position, found.flat, read(found.flat, context)))
        except Refused as refused:
            place = found.pointer + _within(found.raw, refused.pointer)
            parsed.refusals.append(Refusal(position, place, refused.code, refused.message))
    return parsed


def time_of(record: Husk, context: Context) -> Moment:
    """When the record says that it happened, if that is possible at all."""
    return moment(record.get("time"), context.received_ms)


def records(export: Any, kind: Kind) -> Iterator[Found]:
    """Every log record, data point or span of a decoded export."""
    if not isinstance(export, dict):
        raise Refused("not_an_object", "", "an OTLP export is an object")
    others = [names for signal, names in _TOP.items() if signal is not kind and get(export, *names) is not None]
    if get(export, *_TOP[kind]) is None and others:
        raise Refused("wrong_signal", f"/{others[0][0]}", f"this address takes {_TOP[kind][0]}")
    if not isinstance(get(export, *_TOP[kind]), list | None):
        raise Refused("not_a_list", f"/{_TOP[kind][0]}", f"{_TOP[kind][0]} is a list")
    for pointer, resource in _each(export, _TOP[kind], ""):
        yield from _of_resource(resource, pointer, kind)


def _of_resource(resource: Any, pointer: str, kind: Kind) -> Iterator[Found]:
    try:
        shared = pairs(get(_object(resource), "resource") or {}, "/resource")
    except Refused as refused:
        yield Found(pointer, resource, refused)
        return
    for place, item, scope, metric in _leaves(resource, pointer, kind):
        try:
            own = [*shared, *pairs(_object(item), "")]
            yield Found(place, item, husk(_flat(kind, item, own, scope, metric)))
        except Refused as refused:
            yield Found(place, item, refused)


def _flat(kind: Kind, item: Husk, own: Pairs, scope: str, metric: Husk) -> Husk:
    if kind is Kind.LOGS:
        return otlp_flat.log(item, own, scope)
    return otlp_flat.span(item, own, scope) if kind is Kind.SPANS else otlp_flat.point(item, own, scope, metric)


def _leaves(resource: Husk, pointer: str, kind: Kind) -> Iterator[tuple[str, Any, str, Husk]]:
    """(pointer, record, name of its scope, its metric); what has the wrong shape stands for itself."""
    scopes, items = _LEVELS[kind]
    for scope_place, scope in _each(resource, scopes, pointer):
        name = otlp_flat.text(get(get(scope, "scope"), "name"))
        for place, item in _each(scope, items, scope_place):
            if kind is not Kind.METRICS or not isinstance(item, dict):
                yield place, item, name, {}
                continue
            for point_place, point in _each(get(item, "sum") or {}, ("dataPoints", "data_points"), place + "/sum"):
                yield point_place, point, name, item


def _each(tree: Any, names: Names, pointer: str) -> Iterator[tuple[str, Any]]:
    """Members of a list with their pointers; a list of the wrong shape is its own only member."""
    if not isinstance(tree, dict):
        yield pointer, tree
        return
    name = names[0] if names[0] in tree else names[1]
    items = tree.get(name)
    if isinstance(items, list):
        for index, item in enumerate(items):
            yield f"{pointer}/{name}/{index}", item
    elif items is not None:
        yield f"{pointer}/{name}", items if not isinstance(items, dict) else None


def _object(value: Any) -> Husk:
    if isinstance(value, dict):
        return value
    raise Refused("not_an_object", "", "expected an object, in a list of them")


def _within(raw: Any, pointer: str) -> str:
    """A reader's pointer by name (`/attributes/NAME`, `/value`) as one into the record as sent."""
    if pointer == "/value":
        return next((f"/{name}" for name in AMOUNTS if get(raw, name) is not None), "")
    start, _, name = pointer.rpartition("/")
    if start != "/attributes" or name.isdigit():
        return pointer
    held: Sequence[Any] = get(raw, "attributes") or ()
    places = [index for index, pair in enumerate(held) if get(pair, "key") == name]
    return f"{start}/{places[-1]}" if places else ""
