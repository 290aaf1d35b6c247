"""One flat record of Claude Code's telemetry, with its session, its time and its attributes."""

import re
from typing import Any

from sessions_app.feeds import otlp
from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import SessionReading, Source

PREFIX = "claude_code."
_VERSION = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,6}(?:[-+][0-9A-Za-z.\-]{1,40})?")


class Record:
    """A log record or data point. Times are ms, None where absent or impossible."""

    def __init__(self, flat: Husk, context: Context, source: Source) -> None:
        attrs, name = flat.get("attrs"), flat.get("event")
        self.attrs: Husk = attrs if isinstance(attrs, dict) else {}
        self._full_name = name if isinstance(name, str) else ""
        self.name = self._full_name.removeprefix(PREFIX)
        self.session = self.text("session.id")
        self.source = source
        at = otlp.time_of(flat, context)
        self.at_ms, self.flags = at.ms, at.flags
        self.received_ms = context.received_ms

    @property
    def is_ours(self) -> bool:
        """Whether Claude Code wrote it; its service name may have been replaced, the prefix is its own."""
        service = self.text("service.name")
        return self._full_name.startswith(PREFIX) or not service or service.startswith("claude")

    @property
    def received_if_timeless(self) -> int | None:
        """When it was received, where it has no usable time of its own."""
        return self.received_ms if self.at_ms is None else None

    @property
    def own_name(self) -> str:
        """A name for a record without an id. The sequence starts anew with each resume, so never it alone."""
        return f"{self.name}:{self.text('prompt.id')}:{self.at_ms}:{self.attrs.get('event.sequence', '')}"

    def text(self, name: str) -> str:
        value = self.attrs.get(name)
        return value if isinstance(value, str) else ""

    def word(self, name: str) -> str:
        """A text, number or flag as one word."""
        value = self.attrs.get(name)
        return str(value).lower() if isinstance(value, str | int) else ""

    def ranked(self, name: str) -> Ranked | None:
        value = self.text(name)
        return (self.at_ms or 0, value) if value else None

    def count(self, name: str) -> int | None:
        """A count of tokens; a bad one refuses the record."""
        return token_count(self.attrs.get(name), f"/attributes/{name}")

    def side(self, name: str) -> int | None:
        """A side figure; a bad one is unknown and does not cost the record."""
        try:
            return self.count(name)
        except Refused:
            return None

    def dollars(self, name: str) -> int | None:
        """The host's own price in nano-dollars, likewise."""
        try:
            return nanodollars(self.attrs.get(name), "")
        except Refused:
            return None

    def base(self) -> dict[str, Any]:
        """What every reading of the record shares."""
        return {"session": self.session, "source": self.source}

    def facts(self, first_ms: int | None, agents: dict[str, str]) -> SessionReading:
        """What the record says of its session."""
        version = self.text("service.version")
        return SessionReading(
            **self.base(),
            key="session",
            first_ms=first_ms,
            last_ms=self.at_ms,
            received_ms=self.received_ms,
            version=(self.at_ms or 0, version) if _VERSION.fullmatch(version) else None,
            developer=self.ranked("developer"),
            agents=agents,
        )
