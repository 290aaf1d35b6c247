"""Who reports: noted with each delivery by one statement. Also how a team says that it pays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from django.contrib.auth.models import User

from ecm_site.common.problems import DomainError
from sessions_app.feeds import unknown
from sessions_app.feeds.base import SESSIONLESS, Context, Feed, Item, Parsed
from sessions_app.kernel.readings import MeterReading, Reading, SessionReading, Source
from sessions_app.kernel.topics import Topic, topics_of
from sessions_app.models import Billing, BillingMode, Host, Team
from sessions_app.services.store import cursor

if TYPE_CHECKING:
    from sessions_app.services.ingest import Sender

LONGEST_VERSION = 60
#: Versions told apart in one delivery; a sender that names more names none.
MOST_VERSIONS = 50
#: Deliveries of which the clock's lead is kept; the median is shown.
LEADS_KEPT = 9
#: Feeds that deliver as it happens: the newest time in a delivery and its receipt are one moment.
_AT_ONCE = ("-hook", "-otlp-logs", "-otlp-metrics")
#: Times of a reading that its source gave, not we.
_OWN_TIMES = ("at_ms", "ended_ms", "last_ms", "first_ms")


@dataclass(slots=True)
class Seen:
    """What one delivery says of one host in one version."""

    feed: str
    host: str
    version: str
    records: int = 0
    refused: int = 0
    received_ms: int = 0
    occurred_ms: int | None = None
    topics: set[Topic] = field(default_factory=set)
    quota: tuple[int, int | None, int | None] | None = None


def note(*, sender: "Sender", seen: Sequence[Seen], now: datetime) -> None:
    """Count one delivery to its sources: one upsert, whatever the size of the batch.

    After the delivery's transaction: all that a machine sends meets in one row, and would wait for each other there.
    """
    if not seen:
        return
    if sender.developer:
        for each in seen:
            each.topics.add(Topic.DEVELOPER)
    # In one order always: concurrent deliveries wait for each other and do not lock each other out.
    rows = [_row(sender, each) for each in sorted(seen, key=lambda s: (s.host, s.version, s.feed))]
    columns = [list(column) for column in zip(*rows, strict=True)]
    with cursor() as cur:
        cur.execute(_UPSERT, (sender.team_id, sender.machine, now, now, *columns))


def _row(sender: "Sender", seen: Seen) -> tuple[object, ...]:
    """The columns of `_UPSERT` that differ by row. Only hooks are what a client may have lost."""
    quota_ms, *shares = seen.quota or (None, None, None)
    return (
        seen.feed,
        sender.lost_hook_events if seen.feed.endswith("-hook") else None,
        seen.host,
        seen.version,
        _instant(seen.occurred_ms),
        _lead(seen),
        seen.records,
        seen.refused,
        _dated(seen.topics, seen.received_ms),
        *shares,
        _instant(quota_ms),
    )


#: A crash may lose the counts of its last moment; waiting for the disk would make a queue of a machine's hooks.
_UNHURRIED = "(SELECT set_config('synchronous_commit', 'off', true)) AS unhurried"
_UPSERT = f"""
    INSERT INTO sessions_app_sourcerow AS held (team_id, machine, first_received_at, last_received_at, feed,
        lost_hook_events, host, version, last_occurred_at, leads_ms, deliveries, records, refused, topics,
        five_hour_permille, seven_day_permille, quota_at)
    SELECT %b, %b, %b, %b, n, e, h, v, o, array_remove(ARRAY[l], NULL), 1, r, f, t::jsonb, q5, q7, q
    FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::text[], %b::timestamptz[], %b::bigint[], %b::bigint[],
        %b::bigint[], %b::text[], %b::integer[], %b::integer[], %b::timestamptz[])
        AS given (n, e, h, v, o, l, r, f, t, q5, q7, q), {_UNHURRIED}
    ON CONFLICT (team_id, host, version, machine, feed) DO UPDATE SET
        first_received_at = LEAST(held.first_received_at, EXCLUDED.first_received_at),
        last_received_at = GREATEST(held.last_received_at, EXCLUDED.last_received_at),
        last_occurred_at = GREATEST(held.last_occurred_at, EXCLUDED.last_occurred_at),
        lost_hook_events = GREATEST(held.lost_hook_events, EXCLUDED.lost_hook_events),
        leads_ms = (EXCLUDED.leads_ms || held.leads_ms)[1:{LEADS_KEPT}],
        deliveries = held.deliveries + 1,
        records = held.records + EXCLUDED.records,
        refused = held.refused + EXCLUDED.refused,
        topics = held.topics || EXCLUDED.topics,
        five_hour_permille = CASE WHEN EXCLUDED.quota_at < held.quota_at THEN held.five_hour_permille
            ELSE COALESCE(EXCLUDED.five_hour_permille, held.five_hour_permille) END,
        seven_day_permille = CASE WHEN EXCLUDED.quota_at < held.quota_at THEN held.seven_day_permille
            ELSE COALESCE(EXCLUDED.seven_day_permille, held.seven_day_permille) END,
        quota_at = GREATEST(held.quota_at, EXCLUDED.quota_at)
"""  # noqa: S608 - the only value put in is a number of ours


def sightings(feed: Feed, parsed: Parsed, context: Context) -> list[Seen]:
    """A delivery told apart by host and version; records without a version belong to their neighbours."""
    if feed is unknown.FEED:
        # Nobody knows whose it is; the page tells of it by what the vault holds.
        return []
    found: dict[tuple[str, str], Seen] = {}
    hosts = [feed.host or str(item.husk.get("host") or Host.CANONICAL) for item in parsed.items]
    said = [_version(item) for item in parsed.items]
    sessionless = {w.position for w in parsed.warnings if w.code == SESSIONLESS}
    latest = {host: version for host, version in reversed(list(zip(hosts, said, strict=True))) if version}
    for item, host, version in zip(parsed.items, hosts, said, strict=True):
        latest[host] = version or latest.get(host, "")
        if (host, latest[host]) not in found and len(found) >= MOST_VERSIONS:
            latest[host] = ""
        seen = found.setdefault((host, latest[host]), Seen(feed.name, host, latest[host]))
        seen.records += 1
        if item.position in sessionless:
            seen.topics.add(Topic.SESSIONLESS)
        for reading in item.readings:
            _take(seen, reading, context)
    if parsed.refusals or not found:
        host = hosts[-1] if hosts else feed.host or str(Host.CANONICAL)
        place = (host, latest.get(host, ""))
        found.setdefault(place, Seen(feed.name, *place)).refused += len(parsed.refusals)
    for seen in found.values():
        seen.received_ms = context.received_ms
    return list(found.values())


def _version(item: Item) -> str:
    told = next((r.version for r in item.readings if isinstance(r, SessionReading) and r.version), None)
    return told[1][:LONGEST_VERSION] if told else ""


def _take(seen: Seen, reading: Reading, context: Context) -> None:
    seen.topics.update(topics_of(reading))
    for at_ms in _times(reading, context):
        if seen.occurred_ms is None or at_ms > seen.occurred_ms:
            seen.occurred_ms = at_ms
    if isinstance(reading, MeterReading):
        shares = (reading.five_hour_permille, reading.seven_day_permille)
        sample = (reading.received_ms or context.received_ms, *shares)
        if shares != (None, None) and (seen.quota is None or sample[0] >= seen.quota[0]):
            seen.quota = sample


def _times(reading: Reading, context: Context) -> Iterator[int]:
    for name in _OWN_TIMES:
        at_ms = getattr(reading, name, None)
        # Where a record has no clock, some readings carry the time of receipt instead.
        if at_ms is not None and at_ms != context.received_ms:
            yield at_ms
    # A client writes its own clock on the hooks that it passes on.
    if reading.source is Source.HOOK:
        received_ms = getattr(reading, "received_ms", None)
        if received_ms is not None and received_ms != context.received_ms:
            yield received_ms


def _lead(seen: Seen) -> int | None:
    """By how much the sender's clock leads ours, as this delivery tells it; negative where it lags or was slow."""
    if seen.occurred_ms is None or not seen.feed.endswith(_AT_ONCE):
        return None
    return seen.occurred_ms - seen.received_ms


def _dated(topics: Iterable[Topic], received_ms: int) -> str:
    return msgspec.json.encode({str(topic): received_ms for topic in sorted(topics)}).decode()


def _instant(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def state_billing(*, team: Team, host: str, mode: str, by: User, now: datetime) -> BillingMode | None:
    """Write down how a team pays for a host; "unknown" takes it back. Refused: `bad_host`, `bad_mode`."""
    if host not in Host.values:
        raise DomainError("bad_host", f"host is one of {', '.join(Host.values)}.")
    if mode == "unknown":
        Billing.objects.filter(team=team, host=host).delete()
        return None
    if mode not in BillingMode.values:
        raise DomainError("bad_mode", f"mode is one of {', '.join(BillingMode.values)}, unknown.")
    Billing.objects.update_or_create(team=team, host=host, defaults={"mode": mode, "stated_at": now, "stated_by": by})
    return BillingMode(mode)
