"""Five fixed tables of a period: by project, model, host, team and cause. What is shown is what CSV and JSON give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Count, F, QuerySet, Sum
from django.urls import reverse

from ecm_site.common import figures
from sessions_app.dashboard import cause_words, words
from sessions_app.dashboard.scope import Link, Scope, link_suffix
from sessions_app.dashboard.sentences import Sentence, count, money, say
from sessions_app.kernel.causes import Cause
from sessions_app.models import MissDay, UsageDay, Viewer

#: More lines than these are left out, and that is said.
MOST_LINES = 200
_USD = ("cost_usd", "no_cache_cost_usd", "needed_usd", "expected_usd", "avoidable_usd", "unexplained_usd")
_TOKENS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key in CSV and JSON, its head, and how a cell is read: text, count, share or usd."""

    key: str
    head: str
    kind: str


@dataclass(frozen=True, slots=True)
class Group:
    """What a table goes by: the columns of slots that name a line."""

    name: str
    head: str
    fields: tuple[str, ...]


GROUPS = {
    "project": Group("project", "Project", ("session__project_id", "session__project__name", "session__team__slug")),
    "model": Group("model", "Model", ("model",)),
    "host": Group("host", "Host", ("session__host",)),
    "team": Group("team", "Team", ("session__team__slug", "session__team__name")),
    "cause": Group("cause", "Cause", ("cause",)),
}
SPEND = (
    Column("sessions", "Sessions", "count"),
    Column("calls", "Calls", "count"),
    Column("prompt_tokens", "Prompt", "count"),
    Column("read_permille", "Read from cache", "share"),
    Column("output", "Output", "count"),
    Column("cost_usd", "List price", "usd"),
    Column("no_cache_cost_usd", "Without cache", "usd"),
    Column("needed_usd", "Needed", "usd"),
    Column("expected_usd", "Rebuilds", "usd"),
    Column("avoidable_usd", "Avoidable", "usd"),
    Column("unexplained_usd", "Not explained", "usd"),
    Column("unpriced_calls", "Without price", "count"),
)
MISSES = (
    Column("part", "Part of the bill", "text"),
    Column("sessions", "Sessions", "count"),
    Column("misses", "Calls", "count"),
    Column("tokens", "Sent again", "count"),
    Column("cost_usd", "Cost more", "usd"),
    Column("unpriced", "Without price", "count"),
)
PARTS = {"expected": "rebuilds", "avoidable": "avoidable", "unexplained": "not explained"}


@dataclass(frozen=True, slots=True)
class TableLine:
    """One line: its name, where its parts are, and its cells in the order of the columns."""

    name: str
    href: str
    cells: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TablePage:
    """All that page, CSV and JSON show."""

    scope: Scope
    now: datetime
    group: Group
    finding: Sentence
    columns: tuple[Column, ...]
    lines: tuple[TableLine, ...]
    left_out: int
    links: tuple[Link, ...]

    @property
    def csv_href(self) -> str:
        """The same as CSV."""
        return self._as("csv")

    @property
    def json_href(self) -> str:
        """The same as JSON."""
        return self._as("json")

    def _as(self, form: str) -> str:
        return reverse("table-file", args=[self.group.name, form]) + self.scope.suffix

    @property
    def table(self) -> list[dict[str, Any]]:
        """The lines with their cells beside their columns."""
        return [
            {"name": line.name, "href": line.href, "cells": list(zip(self.columns, line.cells, strict=True))}
            for line in self.lines
        ]


def table_page(user: Viewer, scope: Scope, by: str, now: datetime) -> TablePage:
    """The table of a scope: two queries, whatever the size."""
    group = GROUPS.get(by, GROUPS["project"])
    columns = MISSES if group.name == "cause" else SPEND
    since = scope.period.since(now)
    lines = (_misses if group.name == "cause" else _spend)(user, scope, group, since)
    address = reverse("tables")
    return TablePage(
        scope=scope,
        now=now,
        group=group,
        finding=_finding(group, columns, lines, scope),
        columns=columns,
        lines=tuple(lines[:MOST_LINES]),
        left_out=max(0, len(lines) - MOST_LINES),
        links=tuple(
            Link(one.head, address + link_suffix({**scope.query, "by": name}), name == group.name)
            for name, one in GROUPS.items()
        ),
    )


def _inside[M: (UsageDay, MissDay)](rows: QuerySet[M], scope: Scope, since: datetime | None) -> QuerySet[M]:
    rows = rows.filter(session__team_id__in=scope.team.ids)
    return rows if since is None else rows.filter(slot_at__gte=since)


def _spend(user: Viewer, scope: Scope, group: Group, since: datetime | None) -> list[TableLine]:
    rows = _inside(UsageDay.objects.for_user(user), scope, since)
    sums = {f"{name}_sum": Sum(name) for name in (*_TOKENS, *_USD, "calls", "aux_calls", "unpriced_calls")}
    found = rows.values(*group.fields).annotate(n=Count("session", distinct=True), **sums)
    ordered = found.order_by(F("cost_usd_sum").desc(nulls_last=True), *group.fields)
    return [TableLine(*_name(group, row, scope), _spend_cells(row)) for row in ordered]


def _spend_cells(row: dict[str, Any]) -> tuple[Any, ...]:
    prompt = sum(row[f"{name}_sum"] for name in _TOKENS[:-1])
    return (
        row["n"],
        row["calls_sum"] + row["aux_calls_sum"],
        prompt,
        row["cache_read_sum"] * 1000 // prompt if prompt else None,
        row["output_sum"],
        *(row[f"{name}_sum"] for name in _USD),
        row["unpriced_calls_sum"],
    )


def _misses(user: Viewer, scope: Scope, group: Group, since: datetime | None) -> list[TableLine]:
    rows = _inside(MissDay.objects.for_user(user), scope, since).values("cause", "part", "session_id").order_by()
    sums = rows.annotate(m=Sum("misses"), t=Sum("tokens"), c=Sum("cost_usd"), u=Sum("unpriced"))
    # By session first: to count distinct sessions PostgreSQL would sort all rows by their text, at thrice the time.
    inner, parameters = sums.query.sql_with_params()
    outer = "SELECT cause, part, count(*), sum(m)::bigint, sum(t), sum(c) AS usd, sum(u)::bigint FROM (%s) AS one"
    statement = outer.replace("%s", inner) + " GROUP BY cause, part ORDER BY usd DESC NULLS LAST, cause"
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found = cursor.fetchall()
    return [
        TableLine(
            *_name(group, {"cause": cause}, scope),
            (PARTS.get(part, part), sessions, misses, int(tokens), cost, unpriced),
        )
        for cause, part, sessions, misses, tokens, cost, unpriced in found
    ]


def _name(group: Group, row: Mapping[str, Any], scope: Scope) -> tuple[str, str]:
    """What a line is called, and the sessions or calls behind it."""
    sessions = reverse("sessions")
    match group.name:
        case "project":
            name = row["session__project__name"] or "project unknown"
            several = len(scope.team.ids) > 1
            project = row["session__project_id"]
            href = sessions + link_suffix({**scope.query, "project": str(project)}) if project else ""
            return (f"{name} ({row['session__team__slug']})" if several else name), href
        case "host":
            host = row["session__host"]
            return words.word(words.HOSTS, host), sessions + link_suffix({**scope.query, "host": host})
        case "team":
            return row["session__team__name"], reverse("overview") + link_suffix(
                {**scope.query, "team": row["session__team__slug"]}
            )
        case "cause":
            return cause_words.NAMES.get(Cause(row["cause"]), row["cause"]), ""
    return row["model"] or "model unknown", ""


def _finding(group: Group, columns: Sequence[Column], lines: Sequence[TableLine], scope: Scope) -> Sentence:
    """The first line in words: where most of it went."""
    at = next(index for index, column in enumerate(columns) if column.key == "cost_usd")
    costs = [line.cells[at] for line in lines if line.cells[at] is not None]
    if not costs:
        return say(f"Nothing with a price was seen in {scope.period.words}.")
    whole = sum(costs, Decimal())
    top = lines[0]
    share = figures.percent_whole(int(costs[0] * 1_000_000), int(whole * 1_000_000))
    what = "of what was sent again" if group.name == "cause" else "of the spend"
    named = count(len(lines), group.head.lower())
    return say(
        top.name[:1].upper() + top.name[1:] if group.name == "cause" else top.name,
        ": ",
        money(costs[0], top.href),
        f", {share} {what}. ",
        named,
        " in all.",
    )
