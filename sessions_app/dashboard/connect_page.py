"""The page that says what to run so that a host reports here, and shows that it does."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.dashboard import snippets
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Piece, Sentence, say
from sessions_app.dashboard.ticks import Ticks, ticks
from sessions_app.models import Viewer


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to copy; `name` is its place on the page."""

    name: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ConnectPage:
    """All that the template shows."""

    now: datetime
    finding: Sentence
    ticks: Ticks
    #: Seconds between two looks.
    every: int
    client: Snippet
    settings: Snippet
    status_line: Snippet
    collector: Snippet
    own_format: Snippet
    is_plain_http: bool


EVERY_SECONDS = 3


def connect_page(user: Viewer, scope: Scope, url: str, now: datetime) -> ConnectPage:
    """The page for the chosen teams; `url` is where this server is reached."""
    found = ticks(user, scope, now)
    return ConnectPage(
        now=now,
        finding=finding_of(found),
        ticks=found,
        every=EVERY_SECONDS,
        client=Snippet("client", "Commands", snippets.client(url)),
        settings=Snippet("settings", "~/.claude/settings.json", snippets.pretty(snippets.settings(url))),
        status_line=Snippet("status-line", "~/.claude/settings.json", snippets.pretty(snippets.status_line(url))),
        collector=Snippet("collector", "collector.yaml", snippets.collector(url)),
        own_format=Snippet("own-format", "Command", snippets.own_format(url)),
        is_plain_http=url.startswith("http://") and "//127.0.0.1" not in url and "//localhost" not in url,
    )


def finding_of(found: Ticks) -> Sentence:
    """Who speaks, in one sentence."""
    heard = [line.way for line in found.lines if line.at is not None]
    if not heard:
        return say("Nothing speaks yet. One command connects Claude Code.")
    ways = f"{', '.join(heard[:-1])} and {heard[-1]}" if len(heard) > 1 else heard[0]
    said = Piece(f"{ways[0].upper()}{ways[1:]}", "#live")
    verb = "speaks" if heard == ["status line"] else "speak"
    return say(said, f" {verb}, and their numbers agree." if found.agrees else f" {verb}.")
