"""Sums over the roll-up by day, host, project, model, session or team. Pure reading, two queries."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet, Sum, Value
from django.db.models.functions import TruncDate

from sessions_app.api import shapes
from sessions_app.api.params import Span
from sessions_app.kernel import names
from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.zones import Zone
from sessions_app.models import Compaction, Team, UsageSlot

_SUMMED = ("calls", "aux_calls", *shapes.TOKENS, "unpriced_calls", "cost_usd", "no_cache_cost_usd")
_ZONES = tuple(zone.lower() for zone in Zone)
#: Columns that name a group, the same on slots and compactions.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "day": ("day",),
    "host": ("session__host",),
    "project": ("session__project_id", "session__project__name", "session__team__slug"),
    "model": ("model",),
    "session": ("session_id", "session__host", "session__host_session_id", "session__team__slug"),
    "team": ("session__team__slug",),
    "": (),
}
GROUPS = tuple(name for name in _COLUMNS if name)

type Key = tuple[Any, ...]
type Row = Mapping[str, Any]


@dataclass(slots=True)
class Sums:
    """What one group adds up to; costs are null while nothing in it is priced."""

    numbers: dict[str, int]
    cost_usd: Decimal | None = None
    no_cache_cost_usd: Decimal | None = None
    sessions: int = 0
    compactions: int | None = 0

    def add(self, row: Row) -> None:
        """Add one row of the grouped query."""
        for name in self.numbers:
            self.numbers[name] += row[f"sum_{name}"] or 0
        self.cost_usd = _plus(self.cost_usd, row["sum_cost_usd"])
        self.no_cache_cost_usd = _plus(self.no_cache_cost_usd, row["sum_no_cache_cost_usd"])
        self.sessions += row["sessions"]

    def told(self) -> dict[str, Any]:
        """As it is answered."""
        numbers = self.numbers
        return {
            **{name: numbers[name] for name in ("calls", "aux_calls", *shapes.TOKENS, "unpriced_calls")},
            "cost_usd": shapes.usd(self.cost_usd),
            "no_cache_cost_usd": shapes.usd(self.no_cache_cost_usd),
            "cost_complete": not numbers["unpriced_slots"],
            "sessions": self.sessions,
            "compactions": self.compactions,
            "zone_calls": {zone.upper(): numbers[zone] for zone in _ZONES},
        }


def _plus(a: Decimal | None, b: Decimal | None) -> Decimal | None:
    return b if a is None else a if b is None else a + b


def _nothing() -> Sums:
    names_of = (name for name in (*_SUMMED, *_ZONES, "unpriced_slots") if not name.endswith("cost_usd"))
    return Sums(dict.fromkeys(names_of, 0))


def totals(teams: QuerySet[Team], span: Span, group_by: str, tz: ZoneInfo) -> list[dict[str, Any]]:
    """One row per group, days in order, other groups by tokens; without a group one row."""
    groups: dict[Key, Sums] = defaultdict(_nothing)
    for row in _slots(teams, span, group_by, tz):
        groups[_key(group_by, row)].add(row)
    for row in _compactions(teams, span, group_by, tz):
        sums = groups[_key(group_by, row)]
        sums.compactions = (sums.compactions or 0) + row["found"]
    if group_by == "model":
        # A compaction is of a conversation, not of a model.
        for sums in groups.values():
            sums.compactions = None
    if not group_by and not groups:
        groups[()] = _nothing()
    return [{**_named(group_by, key), **sums.told()} for key, sums in sorted(groups.items(), key=_order(group_by))]


def _slots(teams: QuerySet[Team], span: Span, group_by: str, tz: ZoneInfo) -> Iterable[Row]:
    slots: QuerySet[Any] = UsageSlot.objects.filter(_between("slot_at", span), session__team__in=teams)
    rows: Iterable[Row] = (
        slots.annotate(day=TruncDate("slot_at", tzinfo=tz), everything=Value(1))
        .values("everything", *_COLUMNS[group_by])
        .annotate(
            **{f"sum_{name}": Sum(name) for name in (*_SUMMED, *_ZONES)},
            sum_unpriced_slots=Count("pk", filter=Q(cost_usd__isnull=True) | Q(unpriced_calls__gt=0)),
            sessions=Count("session", distinct=True),
        )
        .order_by()
    )
    return rows


def _compactions(teams: QuerySet[Team], span: Span, group_by: str, tz: ZoneInfo) -> Iterable[Row]:
    if group_by == "model":
        return ()
    done: QuerySet[Any] = Compaction.objects.filter(
        _between("at", span), session__team__in=teams, kind=Kind.COMPACTION, state=State.COMPLETED
    )
    if group_by == "day":
        done = done.filter(at__isnull=False)
    rows: Iterable[Row] = (
        done.annotate(day=TruncDate("at", tzinfo=tz), everything=Value(1))
        .values("everything", *_COLUMNS[group_by])
        .annotate(found=Count("pk"))
        .order_by()
    )
    return rows


def _between(column: str, span: Span) -> Q:
    bounds = Q()
    if span.since is not None:
        bounds &= Q(**{f"{column}__gte": span.since})
    if span.until is not None:
        bounds &= Q(**{f"{column}__lt": span.until})
    return bounds


def _key(group_by: str, row: Row) -> Key:
    if group_by == "model":
        return (names.normalise(row["model"]),)
    return tuple(row[column] for column in _COLUMNS[group_by])


def _named(group_by: str, key: Key) -> dict[str, Any]:
    """The group's own name under `key` and under the name of the grouping."""
    match group_by:
        case "":
            return {"key": None}
        case "day":
            return {"key": key[0].isoformat(), "day": key[0].isoformat()}
        case "project":
            return {"key": key[1], "project": key[1], "team": key[2]}
        case "session":
            return {"key": key[0], "session": key[0], "host": key[1], "host_session_id": key[2], "team": key[3]}
        case _:
            return {"key": key[0], group_by: key[0]}


def _order(group_by: str) -> Callable[[tuple[Key, Sums]], Any]:
    def by_day(item: tuple[Key, Sums]) -> Any:
        return item[0]

    def by_tokens(item: tuple[Key, Sums]) -> Any:
        numbers = item[1].numbers
        return (-sum(numbers[name] for name in shapes.TOKENS if name != "cache_write_unknown_ttl"), str(item[0]))

    return by_day if group_by == "day" else by_tokens
