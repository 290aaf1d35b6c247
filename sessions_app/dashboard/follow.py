"""Following a session: how soon its page asks again, and by what it knows that there is nothing new."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404

from policy_app.kernel.operations import Operation
from sessions_app.dashboard.now_card import STILL_SPEAKS
from sessions_app.kernel import live_state
from sessions_app.models import LiveThread, Session, Verdict, Viewer
from sessions_app.services.living import decode

#: (silent for less than this, seconds between two looks); beyond the last one the page rests.
PACES = ((timedelta(minutes=2), 10), (timedelta(minutes=30), 30), (STILL_SPEAKS, 60))
#: The last minutes of a cache are counted down one by one; a longer life is not.
COUNTED_MINUTES = 5


class Signs(NamedTuple):
    """What ingest, fold and people change of a session: when anything here is another, its page is."""

    revision: int
    folded_revision: int
    folded_at: datetime | None
    fold_failures: int
    muted_at: datetime | None
    ended_at: datetime | None
    last_at: datetime | None
    created_at: datetime
    #: When a thread of it was last heard, the newest verdict that asked for something, the state of its main thread.
    lived_at: datetime | None
    asked: int | None
    main_state: str | None


#: In plain SQL: hundreds of open pages ask it all day, and to build it anew takes longer than to answer it.
#: Whose sessions one may see is as in `Team.objects.for_user`; every role may look.
_SIGNS = """
SELECT s.revision, s.folded_revision, s.folded_at, s.fold_failures, s.muted_at, s.ended_at, s.last_at, s.created_at,
       (SELECT max(updated_at) FROM sessions_app_livethread WHERE session_id = s.id),
       (SELECT max(id) FROM sessions_app_verdict WHERE session_id = s.id AND operation <> 'continue'),
       (SELECT state FROM sessions_app_livethread WHERE session_id = s.id AND thread = '')
FROM sessions_app_session s JOIN sessions_app_team t ON t.id = s.team_id
WHERE s.id = %s AND EXISTS (
    SELECT FROM sessions_app_membership m WHERE m.user_id = %s
      AND (m.team_id = t.id OR (m.team_id IS NULL AND m.organisation_id = t.organisation_id))
)
"""


@dataclass(frozen=True, slots=True)
class Follow:
    """`every`: seconds until the next look, 0 once it ended or fell silent. `said`: the newest verdict that asks."""

    every: int
    etag: str
    said: int

    @property
    def known(self) -> str:
        """Headers of a request for what is newer than this, as JSON."""
        return json.dumps({"If-None-Match": self.etag})

    def is_told(self, header: str) -> bool:
        """Whether a page that sends this `If-None-Match` shows the newest verdict already."""
        return header.strip('"').rpartition(".")[2] == str(self.said)


def with_signs(rows: QuerySet[Session]) -> QuerySet[Session]:
    """Sessions with what their follow reads of other tables, by primary keys and indexes alone."""
    of_session = {"session": OuterRef("pk")}
    lived = LiveThread.objects.filter(**of_session).order_by("-updated_at").values("updated_at")
    main = LiveThread.objects.filter(**of_session, thread="").values("state")
    asked = Verdict.objects.filter(**of_session).exclude(operation=Operation.CONTINUE).order_by("-pk").values("pk")
    return rows.annotate(lived_at=Subquery(lived[:1]), asked=Subquery(asked[:1]), main_state=Subquery(main[:1]))


def follow_of(user: Viewer, pk: int, now: datetime) -> Follow:
    """What a session's page shows: one query; 404 for any session of others."""
    with connection.cursor() as cursor:
        cursor.execute(_SIGNS, [pk, user.pk])
        row = cursor.fetchone()
    if row is None:
        raise Http404
    return followed(Signs(*row), now)


def signs_of(session: Session) -> Signs:
    """Of a session `with_signs`."""
    return Signs(*(getattr(session, name) for name in Signs._fields))


def followed(signs: Signs, now: datetime) -> Follow:
    """How to follow a session, by what is known of it."""
    heard_at = max(at for at in (signs.last_at or signs.created_at, signs.lived_at) if at)
    every = 0 if signs.ended_at else next((pace for silent, pace in PACES if now - heard_at < silent), 0)
    left = _minutes_left(signs.main_state, now) if every else None
    told = (*signs._replace(main_state=None), every, left)
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:24]
    return Follow(every, f'"{digest}.{signs.asked or 0}"', signs.asked or 0)


def _minutes_left(state: str | None, now: datetime) -> int | None:
    """Whole minutes until the cache is cold, as far as they are counted."""
    known = decode(state) if state else None
    expires = live_state.expiry(known)[0] if known and known.use else None
    if expires is None:
        return None
    left = (datetime.fromisoformat(expires) - now).total_seconds() // 60
    return int(max(-1, min(left, COUNTED_MINUTES)))
