"""What is kept of OpenCode's records: of each session, message and part the fields named here, as a husk.

The same shape is in exports, in the two stores on disk and in the events of the plugin; all times are epoch ms.
"""

from collections.abc import Mapping
from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.husk import SIZE, husk, size_of

#: Fields by OpenCode's name, with the name under which a husk keeps such a value.
SESSION = {
    **{name: name for name in ("id", "version", "fork_session_id", "fork_boundary", "time", "cwd")},
    "agent": "agentType",
    "directory": "cwd",
    "parentID": "parentSessionId",
    "parent_id": "parentSessionId",
    "rootID": "parent_session_id",
}
MESSAGE = {
    **{name: name for name in ("id", "role", "cost", "seq", "time", "tokens")},
    "sessionID": "session_id",
    "mode": "purpose",
    "agent": "agentType",
    "finish": "stop_reason",
    "parentID": "promptId",
    "modelID": "modelId",
}
PART = {
    **{name: name for name in ("id", "type", "auto", "tokens", "cost")},
    "sessionID": "session_id",
    "messageID": "message_id",
    "tool": "tool_name",
}
PARTS = ("tool", "step-finish", "compaction")


def message_record(session: Any, info: Any, parts: Any) -> Husk:
    """One message with its parts and its session. Refused: `not_an_object`."""
    if not isinstance(info, dict):
        raise Refused("not_an_object", "/info", "a message is {info, parts}")
    found: Husk = {"info": message(info), "parts": [part(p) for p in _dicts(parts) if p.get("type") in PARTS]}
    if isinstance(session, dict):
        found["session"] = header(session)
    return found


def header(session: Mapping[str, Any]) -> Husk:
    """What is said of a session beside its messages; of its folder the last part."""
    told = _picked(session, SESSION)
    # The database of the host has the moment in a column.
    if type(session.get("time_created")) is int:
        told["time"] = {"created": session["time_created"]}
    return husk(told)


def message(info: Mapping[str, Any]) -> Husk:
    """A message; `summary` only where it is the mark of a compaction, an error only by its name."""
    told = _picked(info, MESSAGE)
    if info.get("summary") is True:
        told["summary"] = True
    error = info.get("error")
    if isinstance(error, dict):
        told["error_type"] = error.get("name")
    return husk(told)


def part(given: Mapping[str, Any]) -> Husk:
    """A part that counts something; of a tool use the sizes."""
    told = _picked(given, PART)
    state = given.get("state")
    if isinstance(state, dict):
        told["state"] = {
            "status": state.get("status"),
            "time": state.get("time"),
            "input": {SIZE: size_of(state.get("input"))},
            "output": {SIZE: size_of(state.get("output", state.get("error")))},
        }
    return husk(told)


def _picked(given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {kept: given[name] for name, kept in names.items() if given.get(name) is not None}


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
