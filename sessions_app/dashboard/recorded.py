"""What is recorded of an organisation, for the findings of its policies; the setting `ECM_RECORDED_RESOLVER`."""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from policy_app.kernel.liveness import Coverage, Sent
from policy_app.kernel.recorded import Peak, Recorded
from sessions_app.dashboard.coverage_card import seen_of
from sessions_app.kernel.coverage import coverage
from sessions_app.kernel.told_signals import signals_told
from sessions_app.models import SourceRow, Team
from sessions_app.services.ghost import DAYS
from sessions_app.services.store import cursor

#: What was read counts for so long: the editor asks at every pause in typing.
FRESH_SECONDS = 60.0
MOST_HELD = 1_000
_held: dict[int, tuple[float, Recorded]] = {}


def recorded_of(organisation_id: int, now: datetime) -> Recorded:
    """Of all real teams of the organisation; of its demo team where it has no other."""
    at = time.monotonic()
    held = _held.get(organisation_id)
    if held is not None and at - held[0] < FRESH_SECONDS:
        return held[1]
    rows = Team.objects.filter(organisation_id=organisation_id).values_list("pk", "is_demo")
    team_ids = [pk for pk, is_demo in rows if not is_demo] or [pk for pk, _ in rows]
    sources = list(SourceRow.objects.filter(team__in=team_ids))
    hosts = tuple(sorted({row.host for row in sources}))
    read = Recorded(_coverage(sources, hosts) if hosts else None, hosts, tuple(_peaks(team_ids, now)))
    if len(_held) >= MOST_HELD:
        _held.clear()
    _held[organisation_id] = (at, read)
    return read


def forget() -> None:
    """Read anew at the next question."""
    _held.clear()


def _coverage(sources: Iterable[SourceRow], hosts: Iterable[str]) -> Coverage:
    seen = seen_of(sources)
    found: dict[str, dict[str, Sent]] = {}
    for host in hosts:
        for signal, sent in signals_told(coverage(host, seen, billing_stated=False)).items():
            found.setdefault(signal, {})[host] = sent
    return found


def _peaks(team_ids: list[int], now: datetime) -> Iterable[Peak]:
    since = now - timedelta(days=DAYS)
    with cursor() as cur:
        # The quotient has sixteen digits or more; no line of a policy has more than nine.
        cur.execute(
            """
            SELECT c.model, count(*), max(c.occupancy::numeric / nullif(c.known_window, 0)), max(c.occupancy),
                max(c.depth), max(c.tool_share_permille), max(c.externalize_age_calls)
            FROM sessions_app_call c JOIN sessions_app_session s ON s.id = c.session_id
            WHERE s.team_id = ANY(%b::bigint[]) AND s.last_at >= %b AND c.started_at >= %b
                AND c.thread = '' AND c.purpose = 'turn' AND c.occupancy IS NOT NULL
            GROUP BY c.model ORDER BY c.model
            """,
            (team_ids, since, since),
        )
        for model, calls, share, tokens, depth, tools, age in cur:
            yield Peak(
                model=str(model),
                calls=_whole(calls) or 0,
                utilization=Fraction(share) if isinstance(share, Decimal) else None,
                context_tokens=_whole(tokens),
                depth=_whole(depth),
                tool_result_share=Fraction(tools, 1000) if isinstance(tools, int) else None,
                externalize_age_calls=_whole(age),
            )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
