"""LiteLLM's standard logging payload: `POST /api/v1/proxy/litellm`, an array, one object, or one a line.

The payload holds prompts, keys and headers in several places; only the fields named here are ever looked at.
A record is one call by `litellm_call_id`: a callback that fires twice, or two logging layers with ids of their
own, tell it once. `call_type` alone decides nothing about cached tokens (`provider_usage`).
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_told
from sessions_app.feeds.husk import husk
from sessions_app.feeds.usage_record import UsageRecord, digest_of_person
from sessions_app.kernel.readings import Mark, MarkReading, Reading, Source

HOST = "litellm"
#: How ids of providers begin; others LiteLLM made up.
_PROVIDERS_IDS = ("msg_", "resp_", "chatcmpl-", "gen-")
#: Where the provider's own request id is found among the answer's headers.
_REQUEST_ID = ("llm_provider-request-id", "llm_provider-x-request-id", "request-id", "x-request-id")
_CLAUDE_SESSION = "x-claude-code-session-id"
#: Claude Code tells its session as the end of the user id that it sends.
_USER = re.compile(r"user_[0-9a-f]+_account_[0-9a-f-]*_session_([0-9a-f-]{36})")
_TOP_LEVEL = ("prompt_tokens", "completion_tokens", "total_tokens")


def reduce(payload: Any) -> Husk:
    """The husk of a payload: a flat record of what counts."""
    if not isinstance(payload, dict):
        raise Refused("not_an_object", "", "a payload is an object")
    metadata, response = _tree(payload, "metadata"), _tree(payload, "response")
    host, session = _session(payload, metadata)
    record = {
        "host": host,
        "session": session,
        "id": payload.get("id"),
        "call_id": payload.get("litellm_call_id"),
        "request_id": _request_id(payload),
        "status": payload.get("status"),
        "api": payload.get("call_type"),
        "provider": payload.get("custom_llm_provider"),
        "model": payload.get("model"),
        "started_at": payload.get("startTime"),
        "ended_at": payload.get("endTime"),
        "cost_usd": payload.get("response_cost"),
        "cache_hit": payload.get("cache_hit") is True,
        "error_type": _tree(payload, "error_information").get("error_code"),
        "developer": digest_of_person(metadata.get("user_api_key_user_email") or metadata.get("user_api_key_user_id")),
        "usage": _usage(payload, metadata, response),
    }
    return husk({name: value for name, value in record.items() if value is not None})


def _tree(holder: Husk, name: str) -> Husk:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _usage(payload: Husk, metadata: Husk, response: Husk) -> Husk:
    """The provider's usage as LiteLLM hands it on, over the payload's own three sums."""
    usage = _tree(metadata, "usage_object") or _tree(response, "usage")
    return {**{name: payload[name] for name in _TOP_LEVEL if payload.get(name) is not None}, **usage}


def _session(payload: Husk, metadata: Husk) -> tuple[str, Any]:
    """(host, session): the host's own where a header or the user id names it, else the proxy's grouping."""
    headers, sender = _tree(metadata, "requester_custom_headers"), _tree(metadata, "requester_metadata")
    named = next((value for name, value in headers.items() if name.lower() == _CLAUDE_SESSION), None)
    for told in (sender.get("user_id"), payload.get("end_user")):
        found = _USER.fullmatch(told) if isinstance(told, str) else None
        named = named or (found[1] if found else None)
    if isinstance(named, str) and named:
        return "claude-code", named
    places = (sender, _tree(metadata, "spend_logs_metadata"), metadata)
    return HOST, next((v for place in places if (v := place.get("session_id"))), None) or payload.get("trace_id")


def _request_id(payload: Husk) -> Any:
    headers = _tree(_tree(payload, "hidden_params"), "additional_headers")
    return next((headers[name] for name in _REQUEST_ID if headers.get(name)), None)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one payload. An answer from LiteLLM's own cache was no call; a failure is a moment."""
    own = UsageRecord(record, context)
    name = own.text("call_id") or own.text("id")
    if name is None:
        raise Refused("missing_id", "/id", "a payload needs its id")
    if record.get("status") == "failure":
        return (_failure(own, name), own.facts())
    if record.get("cache_hit"):
        return ()
    told = own.text("id")
    is_providers = bool(told) and str(told).startswith(_PROVIDERS_IDS)
    own.message_id = told if is_providers else None
    # Both ids of a call that was logged twice stand here; the fold says so.
    first, *inner = own.calls()
    call = msgspec.structs.replace(first, key=name, uuids=(told or name,))
    return (call, *inner, own.facts())


def _failure(own: UsageRecord, name: str) -> MarkReading:
    error = own.record.get("error_type")
    return MarkReading(
        session=own.session,
        source=Source.PROXY,
        key=name,
        mark=Mark.API_ERROR,
        at_ms=own.started.ms,
        received_ms=own.received_ms if own.started.ms is None else None,
        detail=(0, str(error)) if isinstance(error, str | int) else None,
    )


def _remarks(payload: Husk) -> Iterator[tuple[str, str, str]]:
    if payload.get("cache_hit") is True:
        yield "/cache_hit", "served_from_cache", "the proxy answered from its own cache; no model was called"


def parse(body: bytes, context: Context) -> Parsed:
    """Raises Refused `too_many_records`."""
    return parse_told(body, context, reduce, read, _remarks)


FEED = Feed("litellm-proxy", "", parse, read)
