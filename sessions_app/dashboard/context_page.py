"""The page of what fills the context: the fixed prefix, tool results, and what subagents kept out."""

from dataclasses import dataclass
from datetime import datetime

from ecm_site.common import figures
from sessions_app.dashboard.prefix_lines import PrefixLine, prefix_lines
from sessions_app.dashboard.round_lines import Rounds, ToolChanges, rounds_of, tool_changes_of
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Piece, Sentence, money, say
from sessions_app.dashboard.tool_lines import (
    LARGE_RETURN,
    AgentLine,
    LargeReturn,
    ToolLine,
    agent_lines,
    large_returns,
    tool_lines,
)
from sessions_app.models import Viewer
from sessions_app.services import prices


@dataclass(frozen=True, slots=True)
class ContextPage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    finding: Sentence
    prefixes: tuple[PrefixLine, ...]
    sessions: int
    tools: tuple[ToolLine, ...]
    agents: tuple[AgentLine, ...]
    returns: tuple[LargeReturn, ...]
    rounds: Rounds | None
    changes: ToolChanges

    @property
    def large_return(self) -> int:
        """Above this a subagent's answer is flagged, in tokens."""
        return LARGE_RETURN

    @property
    def is_empty(self) -> bool:
        """True when nothing is known."""
        return not (self.prefixes or self.tools or self.agents)


def context_page(user: Viewer, scope: Scope, now: datetime) -> ContextPage:
    """The page of a scope: eight queries, whatever the size."""
    prefixes, sessions = prefix_lines(user, scope, now, prices.load_price_book())
    return ContextPage(
        scope=scope,
        now=now,
        finding=_finding(prefixes, scope),
        prefixes=prefixes,
        sessions=sessions,
        tools=tool_lines(user, scope, now),
        agents=agent_lines(user, scope, now),
        returns=large_returns(user, scope, now),
        rounds=rounds_of(user, scope, now),
        changes=tool_changes_of(user, scope, now),
    )


def _finding(prefixes: tuple[PrefixLine, ...], scope: Scope) -> Sentence:
    """The dearest prefix in one sentence."""
    if not prefixes:
        return say(f"No fresh session with a first call was seen in {scope.period.words}.")
    top = prefixes[0]
    head = (
        f"{top.project} spends most before anyone speaks: ",
        Piece(f"{figures.tokens(top.tokens)} tokens", "#prefix", str(top.tokens)),
        " a session",
    )
    if top.cost_a_day_usd is None:
        return say(*head, ".")
    return say(*head, ", ", money(top.cost_a_day_usd, "#prefix"), " on a day with sessions.")
