"""OTLP over HTTP as JSON: exports flattened to records, each with the attributes that count.

Real exporters write integers as numbers, as strings and as string attributes; times may be "0" with the
moment in `observedTimeUnixNano` or in an attribute. A bad record is refused alone, with its pointer.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.bodies import LARGEST
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import decode
from sessions_app.feeds.times import Moment, moment
from sessions_app.kernel.readings import Reading

#: Attributes that are kept, by name. All others are dropped: they may hold what was said.
KEPT = frozenset(
    "event.name event.timestamp event.sequence session.id prompt.id model query_source agent.name speed effort"
    " input_tokens output_tokens cache_read_tokens cache_creation_tokens cost_usd cost_usd_micros duration_ms ttft_ms"
    " request_id client_request_id trigger success pre_tokens post_tokens precompute_reuse tool_name tool_use_id"
    " tool_result_size_bytes tool_input_size_bytes prompt_length command_name command_source status_code attempt type"
    " error_type service.name service.version".split()
)
#: Who a person is, by what telemetry says, the surest first; only a digest of one of them is kept.
PERSON = ("user.account_uuid", "user.email", "user.id")
#: A body that names what happened, with the prefix of who says it.
_NAMED = re.compile(r"[a-z][a-z0-9_]{1,30}(?:\.[a-z][a-z0-9_]{1,40}){1,3}")


class Kind(StrEnum):
    """What an export holds."""

    LOGS = "log"
    METRICS = "metric"


type Names = tuple[str, str]
type Pairs = list[tuple[str, Any]]
type Read = Callable[[Husk, Context], tuple[Reading, ...]]

_TOP: dict[Kind, Names] = {
    Kind.LOGS: ("resourceLogs", "resource_logs"),
    Kind.METRICS: ("resourceMetrics", "resource_metrics"),
}
_LEVELS: dict[Kind, tuple[Names, Names]] = {
    Kind.LOGS: (("scopeLogs", "scope_logs"), ("logRecords", "log_records")),
    Kind.METRICS: (("scopeMetrics", "scope_metrics"), ("metrics", "metrics")),
}
_VALUES = (
    *("stringValue", "intValue", "doubleValue", "boolValue"),
    *("string_value", "int_value", "double_value", "bool_value"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A log record or data point: where, as sent, and its flat husk or why there is none."""

    pointer: str
    raw: Any
    flat: Husk | Refused


def parse(
    body: bytes, context: Context, kind: Kind, read: Read, host_of: Callable[[Husk], str] | None = None
) -> Parsed:
    """Read an export record by record; `host_of` names the host of each where an address takes several.

    Raises Refused for a body in which no record can be told apart.
    """
    parsed = Parsed()
    for position, found in enumerate(records(body, kind), 1):
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


def records(body: bytes, kind: Kind) -> Iterator[Found]:
    """Every log record or data point of an export."""
    export, _ = decode(body, LARGEST)
    if not isinstance(export, dict):
        raise Refused("not_an_object", "", "an OTLP export is an object")
    other = next(name for signal, name in _TOP.items() if signal is not kind)
    if _get(export, *_TOP[kind]) is None and _get(export, *other) is not None:
        raise Refused("wrong_signal", f"/{other[0]}", f"this address takes {_TOP[kind][0]}")
    if not isinstance(_get(export, *_TOP[kind]), list | None):
        raise Refused("not_a_list", f"/{_TOP[kind][0]}", f"{_TOP[kind][0]} is a list")
    for pointer, resource in _each(export, _TOP[kind], ""):
        yield from _of_resource(resource, pointer, kind)


def _of_resource(resource: Any, pointer: str, kind: Kind) -> Iterator[Found]:
    try:
        shared = _pairs(_get(_object(resource), "resource") or {}, "/resource")
    except Refused as refused:
        yield Found(pointer, resource, refused)
        return
    for place, item, metric in _leaves(resource, pointer, kind):
        try:
            own = [*shared, *_pairs(_object(item), "")]
            flat = _log(item, own) if kind is Kind.LOGS else _point(item, own, metric)
            yield Found(place, item, husk(flat))
        except Refused as refused:
            yield Found(place, item, refused)


def _leaves(resource: Husk, pointer: str, kind: Kind) -> Iterator[tuple[str, Any, Husk]]:
    """(pointer, log record or data point, its metric); what has the wrong shape stands for itself."""
    scopes, items = _LEVELS[kind]
    for scope_place, scope in _each(resource, scopes, pointer):
        for place, item in _each(scope, items, scope_place):
            if kind is Kind.LOGS or not isinstance(item, dict):
                yield place, item, {}
                continue
            for point_place, point in _each(_get(item, "sum") or {}, ("dataPoints", "data_points"), place + "/sum"):
                yield point_place, point, item


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


def _get(tree: Any, *names: str) -> Any:
    return next((tree[name] for name in names if name in tree), None) if isinstance(tree, dict) else None


def _object(value: Any) -> Husk:
    if isinstance(value, dict):
        return value
    raise Refused("not_an_object", "", "expected an object, in a list of them")


def _pairs(holder: Any, pointer: str) -> Pairs:
    """Names and plain values of attributes; one without a plain value says nothing."""
    attributes = _get(holder, "attributes")
    if not isinstance(holder, dict) or not isinstance(attributes, list | None):
        raise Refused("not_a_list", f"{pointer}/attributes", "attributes is a list of {key, value}")
    pairs: Pairs = []
    for index, pair in enumerate(attributes or ()):
        key = _get(pair, "key")
        if not isinstance(key, str):
            raise Refused("not_an_attribute", f"{pointer}/attributes/{index}", "an attribute is {key, value}")
        plain = _plain(_get(pair, "value"))
        if plain is not None:
            pairs.append((key, plain))
    return pairs


def _plain(value: Any) -> str | int | float | bool | None:
    for name in _VALUES:
        plain = _get(value, name)
        if isinstance(plain, str | int | float | bool):
            return plain
    return None


def _kept(pairs: Pairs) -> Husk:
    """Kept attributes by name, the record's own over the resource's, and a digest of the person."""
    found: Husk = {key: value for key, value in pairs if key in KEPT}
    people = {key: _text(value).strip().lower() for key, value in pairs if key in PERSON}
    who = next((people[name] for name in PERSON if people.get(name)), "")
    if who:
        found["developer"] = hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()[:32]
    return found


def _log(record: Husk, pairs: Pairs) -> Husk:
    kept = _kept(pairs)
    nanos = [_nanos(record, "timeUnixNano", "time_unix_nano")]
    nanos.append(_nanos(record, "observedTimeUnixNano", "observed_time_unix_nano"))
    time = next((at for at in nanos if at), None) or kept.get("event.timestamp")
    return {"signal": Kind.LOGS.value, "event": _event(record, kept), "time": time, "attrs": kept}


def _event(record: Husk, kept: Husk) -> str:
    """The name with its prefix where the body has it; a body that is no name may be what was said."""
    told = kept.get("event.name") or _get(record, "eventName", "event_name")
    name = told if isinstance(told, str) else ""
    body = _plain(_get(record, "body"))
    if isinstance(body, str) and _NAMED.fullmatch(body) and (not name or body.endswith(f".{name}")):
        return body
    return name


def _nanos(record: Husk, *names: str) -> int | None:
    """Nanoseconds as milliseconds; "0" and nonsense are absent."""
    text = _text(_get(record, *names))
    return int(text) // 1_000_000 or None if text.isascii() and text.isdigit() and len(text) < 25 else None


def _point(point: Husk, pairs: Pairs, metric: Husk) -> Husk:
    name, total = _get(metric, "name"), _get(metric, "sum")
    said = sorted((_text(key), _text(value)) for key, value in [("", name), *pairs])
    return {
        "signal": Kind.METRICS.value,
        "event": name if isinstance(name, str) else "",
        "temporality": _text(_get(total, "aggregationTemporality", "aggregation_temporality")),
        "start_ms": _nanos(point, "startTimeUnixNano", "start_time_unix_nano"),
        "time": _nanos(point, "timeUnixNano", "time_unix_nano"),
        "value": _get(point, *_AMOUNTS),
        # Over all attributes, the dropped ones too: two skills of one model are two series.
        "series": hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:20],
        "attrs": _kept(pairs),
    }


_AMOUNTS = ("asInt", "asDouble", "as_int", "as_double")


def _text(value: Any) -> str:
    """A plain value as text that can be encoded: decoders take lone surrogates and endless integers."""
    if isinstance(value, int) and value.bit_length() > 128:
        return ""
    return str(value).encode("utf-8", "replace").decode() if isinstance(value, str | int | float) else ""


def _within(raw: Any, pointer: str) -> str:
    """A reader's pointer by name (`/attributes/NAME`, `/value`) as one into the record as sent."""
    if pointer == "/value":
        return next((f"/{name}" for name in _AMOUNTS if _get(raw, name) is not None), "")
    start, _, name = pointer.rpartition("/")
    if start != "/attributes" or name.isdigit():
        return pointer
    held: Sequence[Any] = _get(raw, "attributes") or ()
    places = [index for index, pair in enumerate(held) if _get(pair, "key") == name]
    return f"{start}/{places[-1]}" if places else ""
