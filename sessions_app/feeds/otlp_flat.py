"""Log records, data points and spans of an export made flat: names, times and the attributes that count.

Integers come as numbers, as strings and as string attributes; times may be "0" with the moment in
`observedTimeUnixNano` or in an attribute. Everything is reduced here, before any feed sees it.
"""

import hashlib
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.otlp_keys import KEPT

#: Who a person is, by what telemetry says, the surest first; only a digest of one of them is kept.
PERSON = ("user.account_uuid", "user.email", "user.id")
#: A body or a span's name that names what happened, with the prefix of who says it.
_NAMED = re.compile(r"[a-z][a-z0-9_]{1,30}(?:\.[a-z][a-z0-9_]{1,40}){1,5}")
_VALUES = (
    *("stringValue", "intValue", "doubleValue", "boolValue"),
    *("string_value", "int_value", "double_value", "bool_value"),
)
AMOUNTS = ("asInt", "asDouble", "as_int", "as_double")
#: Status code of a span that failed, as number and as name.
_ERROR = ("2", "STATUS_CODE_ERROR")
_ID = re.compile(r"[0-9A-Za-z+/=_-]{8,64}")


class Kind(StrEnum):
    """What an export holds; the value is the `signal` of its records."""

    LOGS = "log"
    METRICS = "metric"
    SPANS = "span"


type Pairs = list[tuple[str, Any]]


def get(tree: Any, *names: str) -> Any:
    """The member by the first of its names that is there."""
    return next((tree[name] for name in names if name in tree), None) if isinstance(tree, dict) else None


def pairs(holder: Any, pointer: str) -> Pairs:
    """Names and plain values of attributes; one without a plain value says nothing."""
    attributes = get(holder, "attributes")
    if not isinstance(holder, dict) or not isinstance(attributes, list | None):
        raise Refused("not_a_list", f"{pointer}/attributes", "attributes is a list of {key, value}")
    found: Pairs = []
    for index, pair in enumerate(attributes or ()):
        key = get(pair, "key")
        if not isinstance(key, str):
            raise Refused("not_an_attribute", f"{pointer}/attributes/{index}", "an attribute is {key, value}")
        plain = _plain(get(pair, "value"))
        if plain is not None:
            found.append((key, plain))
    return found


def log(record: Husk, given: Pairs, scope: str) -> Husk:
    """A log record; `event` has its prefix where the body has it."""
    attrs = kept(given)
    nanos = [_nanos(record, "timeUnixNano", "time_unix_nano")]
    nanos.append(_nanos(record, "observedTimeUnixNano", "observed_time_unix_nano"))
    time = next((at for at in nanos if at), None) or attrs.get("event.timestamp")
    return {"signal": Kind.LOGS.value, "event": _event(record, attrs), "scope": scope, "time": time, "attrs": attrs}


def point(record: Husk, given: Pairs, scope: str, metric: Husk) -> Husk:
    """A data point of a sum, with the name of its series."""
    name, total = get(metric, "name"), get(metric, "sum")
    said = sorted((text(key), text(value)) for key, value in [("", name), *given])
    return {
        "signal": Kind.METRICS.value,
        "event": name if isinstance(name, str) else "",
        "scope": scope,
        "temporality": text(get(total, "aggregationTemporality", "aggregation_temporality")),
        "start_ms": _nanos(record, "startTimeUnixNano", "start_time_unix_nano"),
        "time": _nanos(record, "timeUnixNano", "time_unix_nano"),
        "value": get(record, *AMOUNTS),
        # Over all attributes, the dropped ones too: two skills of one model are two series.
        "series": hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:20],
        "attrs": kept(given),
    }


def span(record: Husk, given: Pairs, scope: str) -> Husk:
    """A span with its own name, its parent's, and its events. Refused: `missing_span_id`, `missing_trace_id`."""
    name, parent = get(record, "name"), get(record, "parentSpanId", "parent_span_id")
    return {
        "signal": Kind.SPANS.value,
        "event": name if isinstance(name, str) and _NAMED.fullmatch(name) else "",
        "scope": scope,
        "trace_id": _id(record, "trace_id", "traceId"),
        "span_id": _id(record, "span_id", "spanId"),
        "parent_span_id": parent.lower() if isinstance(parent, str) and _ID.fullmatch(parent) else "",
        "start_ms": _nanos(record, "startTimeUnixNano", "start_time_unix_nano"),
        "time": _nanos(record, "endTimeUnixNano", "end_time_unix_nano"),
        "failed": text(get(get(record, "status"), "code")) in _ERROR,
        "events": list(_events(get(record, "events"))),
        "attrs": kept(given),
    }


def _events(events: Any) -> Iterator[Husk]:
    """Events of a span that are named after who says them; those of the conventions hold what was said."""
    for event in events if isinstance(events, list) else ():
        name = get(event, "name")
        if isinstance(name, str) and _NAMED.fullmatch(name) and not name.startswith("gen_ai."):
            time = _nanos(event, "timeUnixNano", "time_unix_nano")
            yield {"event": name, "time": time, "attrs": kept(pairs(event, "/events"))}


def _id(record: Husk, name: str, camel: str) -> str:
    """An id in hex; what some send in base64 is taken as it is."""
    value = get(record, camel, name)
    if isinstance(value, str) and _ID.fullmatch(value):
        return value.lower() if value.isalnum() and len(value) in (16, 32) else value
    raise Refused(f"missing_{name}", f"/{camel}", f"a span needs its {camel}")


def kept(given: Pairs) -> Husk:
    """Kept attributes by name, the record's own over the resource's, and a digest of the person."""
    found: Husk = {key: value for key, value in given if key in KEPT}
    people = {key: text(value).strip().lower() for key, value in given if key in PERSON}
    who = next((people[name] for name in PERSON if people.get(name)), "")
    if who:
        found["developer"] = hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()[:32]
    return found


def text(value: Any) -> str:
    """A plain value as text that can be encoded: decoders take lone surrogates and endless integers."""
    if isinstance(value, int) and value.bit_length() > 128:
        return ""
    return str(value).encode("utf-8", "replace").decode() if isinstance(value, str | int | float) else ""


def _plain(value: Any) -> str | int | float | bool | None:
    for name in _VALUES:
        plain = get(value, name)
        if isinstance(plain, str | int | float | bool):
            return plain
    return None


def _event(record: Husk, attrs: Husk) -> str:
    """The name with its prefix where the body has it; a body that is no name may be what was said."""
    told = attrs.get("event.name") or get(record, "eventName", "event_name")
    name = told if isinstance(told, str) else ""
    body = _plain(get(record, "body"))
    if isinstance(body, str) and _NAMED.fullmatch(body) and (not name or body.endswith(f".{name}")):
        return body
    return name


def _nanos(record: Husk, *names: str) -> int | None:
    """Nanoseconds as milliseconds; "0" and nonsense are absent."""
    told = text(get(record, *names))
    return int(told) // 1_000_000 or None if told.isascii() and told.isdigit() and len(told) < 25 else None
