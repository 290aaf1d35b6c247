"""Rows of Copilot's `~/.copilot/session-store.db`, one JSON object a line: `{"table": NAME, "row": {…}}`.

`assistant_usage_events` has a row per call, without the provider's ids: a row joins what `events.jsonl` tells of the
same call by thread, usage and time. Of `sessions` only the place is read.
"""

from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_line import FOLDER_RANK
from sessions_app.feeds.claude_statusline import REMOTE_RANK
from sessions_app.feeds.copilot_line import AGENT_RANK, MAIN_RANK, first_text
from sessions_app.feeds.copilot_usage import leaves, purpose_of
from sessions_app.feeds.husk import husk
from sessions_app.feeds.husk_strings import made_id
from sessions_app.feeds.lines import parse_lines
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import CallReading, Reading, SessionReading, Source
from sessions_app.kernel.totals import BY_TOTAL

#: Columns that are read, by table, under the names that the events have.
TABLES = {
    "assistant_usage_events": {
        "id": "number",
        "session_id": "session_id",
        "agent_id": "agentId",
        "parent_tool_call_id": "parentToolCallId",
        "model": "model",
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cache_read_tokens": "cacheReadTokens",
        "cache_write_tokens": "cacheWriteTokens",
        "reasoning_tokens": "reasoningTokens",
        "initiator": "initiator",
        "created_at": "created_at",
    },
    "sessions": {"id": "session_id", "cwd": "cwd", "branch": "branch", "created_at": "created_at"},
}


def parse(body: bytes, context: Context) -> Parsed:
    """Read rows. Refused: see `lines`, `husk`, `numbers`, `unknown_table` and `missing_session`."""
    return parse_lines(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    if not isinstance(record, dict) or not isinstance(record.get("row"), dict):
        raise Refused("not_an_object", "/row", "a line is an object with table and row")
    table, row = record.get("table"), record["row"]
    columns = TABLES.get(table) if isinstance(table, str) else None
    if columns is None:
        raise Refused("unknown_table", "/table", f"table is one of {', '.join(TABLES)}")
    told = {name: row[column] for column, name in columns.items() if row.get(column) is not None}
    if table == "sessions" and isinstance(row.get("repository"), str):
        told["remote"] = f"{row.get('repository_host') or 'github.com'}/{row['repository']}"
    reduced = {"kind": "call" if table != "sessions" else "session", **husk(told)}
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one row. Refused: bad counts, `missing_session`."""
    session = record.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", "/row/session_id", "a row needs the session's id, a string")
    at = moment(record.get("created_at"), context.received_ms)
    facts: dict[str, Any] = {"session": session, "source": Source.TRANSCRIPT, "key": "session"}
    if record.get("kind") != "call":
        return (SessionReading(**facts, first_ms=at.ms, last_ms=at.ms, **_place(record, at.ms or context.received_ms)),)
    number, model, initiator = record.get("number"), record.get("model"), record.get("initiator")
    agent = first_text(record.get("agentId"), record.get("parentToolCallId"))
    name = f"{session}:{number if isinstance(number, int) else at.ms}"
    call = CallReading(
        session=session,
        source=Source.TRANSCRIPT,
        key=made_id("store:", name),
        message_id=made_id(BY_TOTAL, name),
        thread=(AGENT_RANK, agent) if agent else (MAIN_RANK, ""),
        purpose=purpose_of(initiator if isinstance(initiator, str) else "", ""),
        model=(at.ms or 0, model) if isinstance(model, str) and model else None,
        first_ms=at.ms,
        received_ms=context.received_ms if at.ms is None else None,
        stop_reason=(0, "completed"),
        flags=at.flags,
        **leaves(record, "/row"),
    )
    return (call, SessionReading(**facts, first_ms=at.ms, last_ms=at.ms))


def _place(record: Husk, ms: int) -> dict[str, Any]:
    remote, folder, branch = (record.get(name) for name in ("remote", "cwd", "branch"))
    project = (REMOTE_RANK, remote) if isinstance(remote, str) else None
    if project is None and isinstance(folder, str) and folder:
        project = (FOLDER_RANK - ms, folder)
    return {"project": project, "branch": (ms, branch) if isinstance(branch, str) and branch else None}


FEED = Feed("copilot-store", "copilot", parse, read, by_line=True)
