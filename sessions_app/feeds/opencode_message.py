"""Readings of one OpenCode message with its parts: its calls, its compaction, its tools, what it says of the session.

A fork copies messages under new ids with their old times: a message older than its session is a copy, known by
its moment.
"""

from collections.abc import Iterator
from typing import Any

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_line import MINUTE_MS
from sessions_app.feeds.husk_strings import made_id
from sessions_app.feeds.opencode_session import asking, cost_of, facts, place_of, text, tool_size, tree
from sessions_app.feeds.opencode_usage import Tokens, tokens_of
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

#: Pruning marks one output after the other; marks of one such span are one clearing.
PRUNE_MS = 60_000
API_ERRORS = frozenset(("APIError", "ProviderAuthError", "UnknownError"))


class Message:
    """A message in its place. `is_live`: an event of the plugin, which is booked only when it is completed."""

    def __init__(self, record: Husk, context: Context, source: Source, *, is_live: bool) -> None:
        info = tree(record, "info")
        self.info, self.source, self.is_live = info, source, is_live
        self.place = place_of(tree(record, "session"), info.get("session_id"), context, "/info/sessionID")
        given = record.get("parts")
        self.parts: list[Husk] = [p for p in given if isinstance(p, dict)] if isinstance(given, list) else []
        self.id = text(info, "id")
        if not self.id:
            raise Refused("missing_id", "/info/id", "a message needs id, a string")
        time = tree(info, "time")
        created, completed = (moment(time.get(name), context.received_ms) for name in ("created", "completed"))
        self.created_ms, self.flags = created.ms, created.flags
        # Exports that were made anonymous give many messages one id; their moments still tell them apart.
        self.name = self.id if created.ms is None else made_id("", self.id, f"@{created.ms}")
        self.received_ms = context.received_ms
        ended = completed.ms
        # Copies and imports were seen to end before they begin.
        self.ended_ms = ended if ended is not None and ended >= (created.ms or 0) else None
        self.is_completed = ended is not None

    def readings(self) -> Iterator[Reading]:
        """All that the message says. Refused: bad counts."""
        if self.info.get("role") == "assistant":
            yield from self._response()
        else:
            yield from self._request()
        tools = dict(self._tools())
        if tools:
            minute = (self.created_ms if self.created_ms is not None else self.received_ms) // MINUTE_MS
            yield StepsReading(**self._base(str(minute)), tools=tools)
        yield from self._prunings()
        yield self._facts()

    def _base(self, key: str) -> dict[str, Any]:
        return {"session": self.place.session, "source": self.source, "key": key}

    @property
    def is_summary(self) -> bool:
        """Whether it is the summary that a compaction asked for."""
        return self.info.get("summary") is True or "compaction" in (
            text(self.info, "purpose"),
            text(self.info, "agentType"),
        )

    @property
    def is_copy(self) -> bool:
        """Whether a fork brought it here: told by the fork's mark, or because it is older than its session."""
        boundary, seq = self.place.head.get("fork_boundary"), self.info.get("seq")
        if isinstance(boundary, int) and isinstance(seq, int):
            return seq <= boundary
        began = self.place.created_ms
        return began is not None and self.created_ms is not None and self.created_ms < began

    def _response(self) -> Iterator[Reading]:
        if self.is_live and not self.is_completed:
            return
        steps = self._steps()
        for number, (name, told, cost) in enumerate(steps):
            yield self._call(name, told, cost, number, is_last=number == len(steps) - 1)
        if self.is_summary:
            yield self._compaction(is_done=bool(steps))
        elif not steps and self.is_completed:
            yield self._mark(Mark.UNSEEN_CALL, f"unseen:{self.name}", "")
        error = text(self.info, "error_type")
        if error in API_ERRORS:
            yield self._mark(Mark.API_ERROR, f"error:{self.name}", error)

    def _steps(self) -> list[tuple[str, Tokens, object]]:
        """(name of the call, counts, cost): the steps of a message where it has several, else the message itself.

        The last step has the message's own name: in all builds the message's counts are those of its last step.
        """
        finished = sorted((p for p in self.parts if p.get("type") == "step-finish"), key=lambda p: text(p, "id"))
        told = [(text(p, "id"), tokens_of(p.get("tokens"), "/parts/tokens"), p.get("cost")) for p in finished]
        steps = [(made_id("", self.name, f"#{part}"), tokens, cost) for part, tokens, cost in told if tokens]
        if len(steps) > 1:
            return [*steps[:-1], (self.name, *steps[-1][1:])]
        own = tokens_of(self.info.get("tokens"), "/info/tokens")
        return [(self.name, own, self.info.get("cost"))] if own else []

    def _call(self, name: str, told: Tokens, cost: object, number: int, *, is_last: bool) -> CallReading:
        ms, parent = self.created_ms, text(self.info, "promptId")
        alias = made_id("opencode:", f"{ms}:{text(self.info, 'modelId')}:{number}") if ms is not None else None
        return CallReading(
            **self._base(name),
            message_id=None if self.is_copy and alias else name,
            request_id=alias,
            thread=self.place.thread,
            purpose=(50, Purpose.COMPACTION) if self.is_summary else (0, Purpose.TURN),
            model=self._ranked("modelId"),
            first_ms=None if ms is None else ms + number,
            ended_ms=self.ended_ms if is_last else None,
            duration_ms=self.ended_ms - ms if is_last and self.ended_ms is not None and ms is not None else None,
            received_ms=self.received_ms if ms is None else None,
            uncached_input=told.uncached_input,
            cache_read=told.cache_read,
            write_total=told.write_total,
            output=told.output,
            reasoning=told.reasoning,
            host_cost_nanousd=cost_of(cost),
            stop_reason=self._ranked("stop_reason"),
            prompt_id=(0, parent) if parent else None,
            flags=tuple(sorted({*self.flags, *told.flags})),
        )

    def _compaction(self, *, is_done: bool) -> CompactionReading:
        """A summary with counts is a compaction; one without is an intention: the row is written beforehand."""
        asked = text(self.info, "promptId") or self.id
        at_ms = self.ended_ms if is_done and self.ended_ms is not None else self.created_ms
        return CompactionReading(
            **self._base(self.name if is_done else f"attempt:{asked}"),
            signal=Signal.BOUNDARY if is_done else Signal.PRE_HOOK,
            at_ms=at_ms,
            received_ms=self.received_ms if at_ms is None else None,
            thread=self.place.thread,
            prompt_id=(0, asked),
        )

    def _request(self) -> Iterator[Reading]:
        asked = next((part for part in self.parts if part.get("type") == "compaction"), None)
        if asked is not None:
            yield asking(self.place, self.source, self.id, asked, self.created_ms, self.received_ms)
        # Live, the parts come apart from their message, and the plugin tells a prompt by itself.
        elif not self.is_live and not self.place.thread[1] and self.info.get("role") == "user":
            yield self._mark(Mark.PROMPT, self.name, "")

    def _mark(self, mark: Mark, key: str, detail: str) -> MarkReading:
        return MarkReading(
            **self._base(key),
            mark=mark,
            at_ms=self.created_ms,
            received_ms=self.received_ms if self.created_ms is None else None,
            detail=(0, detail) if detail else None,
            thread=self.place.thread,
        )

    def _tools(self) -> Iterator[tuple[str, ToolSize]]:
        for part in self.parts:
            found = tool_size(part, self.place, self.received_ms)
            if found:
                yield found

    def _prunings(self) -> Iterator[CompactionReading]:
        for part in self.parts:
            pruned = moment(tree(tree(part, "state"), "time").get("compacted"), self.received_ms).ms
            if pruned is not None:
                yield CompactionReading(
                    **self._base(f"micro:{self.place.thread[1]}:{pruned // PRUNE_MS}"),
                    signal=Signal.MICRO,
                    at_ms=pruned,
                    thread=self.place.thread,
                )

    def _facts(self) -> SessionReading:
        head, ms = self.place.head, self.created_ms
        began = self.place.created_ms if self.is_copy and self.place.created_ms is not None else ms
        last = self.ended_ms if self.ended_ms is not None and not self.is_copy else began
        return facts(self.place, self.source, first_ms=began, last_ms=last, received_ms=self.received_ms, head=head)

    def _ranked(self, name: str) -> Ranked | None:
        value = text(self.info, name)
        return (self.created_ms or 0, value) if value else None
