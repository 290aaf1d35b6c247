"""Usage of providers as it came, with the session that it belongs to: `POST /api/v1/usage`.

One record, a list, or one a line: `{"session", "model", "provider"?, "id"?, "usage": {…}}` and, beside them,
the fields of a call in the own format. What is not needed to count is not read, so a whole answer may be sent.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_told
from sessions_app.feeds.canonical_record import CanonicalRecord
from sessions_app.feeds.claude_usage import WHERE, calls_of
from sessions_app.feeds.husk import husk
from sessions_app.feeds.numbers import nanodollars
from sessions_app.feeds.provider_usage import counted, is_anthropic
from sessions_app.kernel.readings import CallReading, Purpose, Reading, Source

USAGE = ("usage", "usageMetadata", "usage_metadata")
FIELDS = frozenset(
    (
        "session host project branch developer version model provider api thread purpose id message_id request_id"
        " started_at ended_at cost_usd window stop_reason prompt_id query_source speed entrypoint choices"
    ).split()
    + list(USAGE)
)


def digest_of_person(who: Any) -> str | None:
    """A developer, who may be an address, as a digest; a digest stays."""
    if not isinstance(who, str) or not who:
        return None
    is_digest = len(who) == 32 and all(letter in "0123456789abcdef" for letter in who)
    return who if is_digest else hashlib.sha256(who.strip().lower().encode("utf-8", "replace")).hexdigest()[:32]


def reduce(record: Any) -> Husk:
    """The husk of a record: known fields alone, and of an answer's choices only a usage among them."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", "a record is an object")
    known = {name: value for name, value in record.items() if name in FIELDS}
    choices = known.pop("choices", None)
    if not any(name in known for name in USAGE) and isinstance(choices, list) and choices:
        known["usage"] = choices[0].get("usage") if isinstance(choices[0], dict) else None
    known["developer"] = digest_of_person(known.get("developer"))
    return husk(known)


class UsageRecord(CanonicalRecord):
    """A record with a session, and one usage object in any provider's dialect."""

    def __init__(self, record: Husk, context: Context, *, extra_flags: tuple[str, ...] = ()) -> None:
        super().__init__(record, context)
        self.source, self.extra_flags = Source.PROXY, extra_flags
        self.name = next((name for name in USAGE if record.get(name) is not None), USAGE[0])
        self.usage = record.get(self.name)
        self.provider, self.api = (str(record.get(name) or "").lower() for name in ("provider", "api"))
        self.message_id = self.text("message_id") or self.text("id")

    def calls(self) -> tuple[CallReading, ...]:
        """The call, and those that Anthropic lists inside it (a compaction's, an advisor's, a declined attempt's)."""
        if self.usage is None:
            raise Refused("missing_usage", "/usage", "usage is needed: the provider's own object")
        if is_anthropic(self.usage, self.provider):
            return self._anthropic()
        fields = counted(self.usage, f"/{self.name}", provider=self.provider, api=self.api)
        request_id, flags = self.text("request_id"), (*fields.pop("flags"), *self.started.flags, *self.extra_flags)
        call = CallReading(
            **self._base(),
            key=self.message_id or request_id or self.digest,
            message_id=self.message_id,
            purpose=self._purpose(),
            model=self.ranked("model"),
            host_cost_nanousd=self._cost(),
            stop_reason=self.ranked("stop_reason"),
            speed=self.ranked("speed"),
            flags=tuple(sorted(set(flags))),
            **fields,
        )
        return (call,)

    def _anthropic(self) -> tuple[CallReading, ...]:
        names = ("model", "stop_reason")
        message = {"id": self.message_id, "usage": self.usage, **{name: self.record.get(name) for name in names}}
        base = {**self._base(), "uuids": (), "parents": (), "flags": (*self.started.flags, *self.extra_flags)}
        try:
            first, *inner = calls_of(message, base, self.started.ms or 0, self.digest)
        except Refused as refused:
            raise Refused(refused.code, refused.pointer.replace(WHERE, f"/{self.name}", 1), refused.message) from None
        purpose = self._purpose()
        told = {"host_cost_nanousd": self._cost(), **({} if purpose[1] == Purpose.TURN else {"purpose": purpose})}
        return (msgspec.structs.replace(first, **told), *inner)

    def _base(self) -> dict[str, Any]:
        return {
            "session": self.session,
            "source": self.source,
            "request_id": self.text("request_id"),
            "thread": self._thread,
            "first_ms": self.started.ms,
            "ended_ms": self.ended.ms,
            "received_ms": self._received_if_timeless,
            "prompt_id": self.ranked("prompt_id"),
            "query_source": self.ranked("query_source"),
        }

    def _cost(self) -> int | None:
        """What the sender or the provider says it cost; OpenRouter tells it inside the usage."""
        told = self.record.get("cost_usd")
        if told is None and isinstance(self.usage, dict):
            return _safe_cost(self.usage.get("cost"))
        return nanodollars(told, "/cost_usd")

    def windows(self) -> tuple[Reading, ...]:
        """The window that was stated with the call."""
        window = self.count("window")
        return () if window is None else (self._gauge(f"window:{self.text('model')}:{window}", window),)


def _safe_cost(value: Any) -> int | None:
    try:
        return nanodollars(value, "")
    except Refused:
        return None


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one record. Refused with the field: see `CanonicalRecord` and `provider_usage`."""
    own = UsageRecord(record, context)
    return (*own.calls(), *own.windows(), own.facts())


def _remarks(record: Husk) -> Iterator[tuple[str, str, str]]:
    if not any(record.get(name) for name in ("id", "message_id", "request_id", "started_at")):
        yield "", "nameless_call", "without id, request_id and started_at two equal records are one call"


def parse(body: bytes, context: Context) -> Parsed:
    """One record, a list of records, or one a line. Raises Refused `too_many_records`."""
    return parse_told(body, context, reduce, read, _remarks)


FEED = Feed("usage-proxy", "", parse, read)
