"""Whose a record of OpenCode is, and what its records say beside their counts.

A subagent is a session of its own that names its parent; here it is a thread of the parent's.
"""

from dataclasses import dataclass

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_line import FOLDER_RANK
from sessions_app.feeds.husk import size_of
from sessions_app.feeds.numbers import nanodollars
from sessions_app.feeds.times import moment
from sessions_app.kernel.inferred import MARKERS_OPTIONAL
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import CompactionReading, SessionReading, Signal, Source, ToolSize


@dataclass(frozen=True, slots=True)
class Place:
    """Whose a record is: the session (a subagent's is its root's), the thread in it, and when its session began."""

    session: str
    thread: Ranked
    created_ms: int | None
    head: Husk


def place_of(head: Husk, session: object, context: Context, pointer: str) -> Place:
    """The place of a record of `session`. Refused: `missing_session`."""
    own = session or head.get("id")
    if not isinstance(own, str) or not own:
        raise Refused("missing_session", pointer, "a record of OpenCode needs sessionID, a string")
    created = moment(tree(head, "time").get("created"), context.received_ms).ms
    parent = head.get("parent_session_id") or head.get("parentSessionId")
    if isinstance(parent, str) and parent and parent != own:
        return Place(parent, (20, own), created, head)
    return Place(own, (30, ""), created, head)


def facts(
    place: Place, source: Source, *, first_ms: int | None, last_ms: int | None, received_ms: int, head: Husk
) -> SessionReading:
    """What a record says of the whole session."""
    version, folder, forked, agent = (text(head, name) for name in ("version", "cwd", "fork_session_id", "agentType"))
    child = place.thread[1]
    seen_ms = received_ms if first_ms is None else first_ms
    return SessionReading(
        session=place.session,
        source=source,
        key="session",
        first_ms=first_ms,
        last_ms=last_ms,
        received_ms=received_ms if first_ms is None else None,
        version=(seen_ms, version) if version else None,
        project=(FOLDER_RANK - seen_ms, folder) if folder else None,
        parent=(seen_ms, forked) if forked and not child else None,
        agents={child: agent} if child and agent else {},
        # Exports and older builds leave the marker out.
        flags=(MARKERS_OPTIONAL,),
    )


def asking(
    place: Place, source: Source, message: str, part: Husk, at_ms: int | None, received_ms: int
) -> CompactionReading:
    """The request to compact; it alone says whether the host asked by itself."""
    auto = part.get("auto")
    return CompactionReading(
        session=place.session,
        source=source,
        key=f"attempt:{message}",
        signal=Signal.PRE_HOOK,
        trigger=(0, "auto" if auto else "manual") if isinstance(auto, bool) else None,
        at_ms=at_ms,
        received_ms=received_ms if at_ms is None else None,
        thread=place.thread,
        prompt_id=(0, message),
    )


def tool_size(part: Husk, place: Place, received_ms: int) -> tuple[str, ToolSize] | None:
    """(id, sizes) of a tool use that has ended."""
    state, use = tree(part, "state"), text(part, "id")
    status = text(state, "status")
    if part.get("type") != "tool" or not use or status not in ("completed", "error"):
        return None
    size = ToolSize(
        name=text(part, "tool_name") or None,
        result_bytes=size_of(state.get("output")),
        input_bytes=size_of(state.get("input")),
        failed=int(status == "error"),
        at_ms=moment(tree(state, "time").get("end"), received_ms).ms,
        thread=place.thread[1],
    )
    return use, size


def text(holder: Husk, name: str) -> str:
    """A string under a name, or nothing."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def tree(holder: Husk, name: str) -> Husk:
    """A tree under a name, or an empty one."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def cost_of(value: object) -> int | None:
    """The host's own price; zero is what it writes for subscriptions and unknown models."""
    try:
        return nanodollars(value, "") or None
    except Refused:
        return None
