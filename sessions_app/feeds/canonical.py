"""The product's own format: calls, compactions, meters, tool uses and facts that a script or a proxy reports.

JSON (one record or a list) or NDJSON. Field names are those of the answers; see
docs/schemas/canonical.schema.json. A wrong value is refused with field and fix, an unknown field is a remark.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import MOST_RECORDS, TOO_MANY, parse_told
from sessions_app.feeds.canonical_record import CanonicalRecord, host_of
from sessions_app.feeds.husk import clean, husk
from sessions_app.kernel.readings import Reading

__all__ = ["FEED", "FIELDS", "MOST_RECORDS", "TOO_MANY", "host_of", "parse", "read"]

_ANY = "type session host project branch developer version model"
_CALL = (
    f"{_ANY} thread purpose message_id request_id started_at ended_at uncached_input cache_read cache_write_5m"
    " cache_write_1h cache_write_unknown_ttl output reasoning web_searches cost_usd window stop_reason prompt_id"
    " query_source speed"
)
#: Fields by type of record.
FIELDS: Mapping[str, frozenset[str]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "call": _CALL,
        "proxy_call": _CALL,
        "compaction": f"{_ANY} thread id at started_at trigger before_tokens after_tokens duration_ms prompt_id",
        "session": f"{_ANY} started_at ended_at entrypoint parent_session_id handoff",
        "meter": f"{_ANY} at window occupancy cost_usd",
        "tool": f"{_ANY} thread tool_use_id tool_name at result_bytes input_bytes failed",
        "externalize": f"{_ANY} thread id at sink",
    }.items()
}
_DIGEST = re.compile(r"[0-9a-f]{32}")


def reduce(record: Any) -> Husk:
    """The husk of a record; of the developer, who may be an address, only a digest."""
    reduced = husk(record)
    who = record.get("developer")
    if isinstance(who, str) and who and not _DIGEST.fullmatch(who):
        reduced["developer"] = hashlib.sha256(who.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]
    return reduced


def parse(body: bytes, context: Context) -> Parsed:
    """One record, a list of records, or one a line. Raises Refused `too_many_records`."""
    return parse_told(body, context, reduce, read, _remarks)


def _remarks(record: Husk) -> Iterator[tuple[str, str, str]]:
    """(pointer, code, message) of what was taken but is likely not meant so."""
    known = FIELDS[clean(record["type"])]
    for name in record:
        if name not in known:
            near = difflib.get_close_matches(name[:60], known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            place = "/" + name[:60].replace("~", "~0").replace("/", "~1")
            yield place, "unknown_field", f"no such field of a {record['type']}; it is left out{hint}"
    if "message_id" in known and not any(record.get(n) for n in ("message_id", "request_id", "started_at")):
        yield "", "nameless_call", "without message_id, request_id and started_at two equal records are one call"


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one record. Refused with the field: see `CanonicalRecord`."""
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise Refused("unknown_type", "/type", f"type must be one of {', '.join(FIELDS)}")
    own = CanonicalRecord(record, context)
    readers = {
        "call": own.call,
        "proxy_call": own.call,
        "compaction": own.compaction,
        "session": own.session_alone,
        "meter": own.meter,
        "tool": own.tool,
        "externalize": own.externalize,
    }
    return (*readers[kind](), own.facts())


FEED = Feed("canonical", "", parse, read)
