"""Following a session: how soon its page asks again, and by what it knows that there is nothing new."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, QuerySet, Subquery
from django.shortcuts import get_object_or_404

from policy_app.kernel.operations import Operation
from sessions_app.dashboard.now_card import STILL_SPEAKS
from sessions_app.kernel import live_state
from sessions_app.models import LiveThread, Session, Verdict, Viewer
from sessions_app.services.living import decode

#: (silent for less than this, seconds between two looks); beyond the last one the page rests.
PACES = ((timedelta(minutes=2), 5), (timedelta(minutes=30), 30), (STILL_SPEAKS, 60))
#: The last minutes of a cache are counted down one by one; a longer life is not.
COUNTED_MINUTES = 5
#: What ingest, fold and people change of a session's row.
_SHOWN = ("revision", "folded_revision", "folded_at", "fold_failures", "muted_at", "ended_at")


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
    rows = Session.objects.for_user(user).filter(pk=pk).only(*_SHOWN, "last_at", "created_at")
    return followed(get_object_or_404(with_signs(rows)), now)


def followed(session: Session, now: datetime) -> Follow:
    """Of a session `with_signs`."""
    lived_at, asked = getattr(session, "lived_at", None), getattr(session, "asked", None) or 0
    heard_at = max(at for at in (session.last_at or session.created_at, lived_at) if at)
    every = 0 if session.ended_at else next((pace for silent, pace in PACES if now - heard_at < silent), 0)
    left = _minutes_left(getattr(session, "main_state", None), now) if every else None
    told = (*(getattr(session, name) for name in _SHOWN), lived_at, every, left)
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:24]
    return Follow(every, f'"{digest}.{asked}"', asked)


def _minutes_left(state: str | None, now: datetime) -> int | None:
    """Whole minutes until the cache is cold, as far as they are counted."""
    known = decode(state) if state else None
    expires = live_state.expiry(known)[0] if known and known.use else None
    if expires is None:
        return None
    left = (datetime.fromisoformat(expires) - now).total_seconds() // 60
    return int(max(-1, min(left, COUNTED_MINUTES)))
