"""A small world of two organisations, for tests of who may see what."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import User

from sessions_app.models import (
    ApiKey,
    Call,
    Compaction,
    KeyKind,
    Membership,
    MissSlot,
    Organisation,
    Project,
    Role,
    Session,
    Team,
    Thread,
    UsageSlot,
)
from sessions_app.services import day_sums, keys

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """Organisation `mine` with teams one, two and a demo team; organisation `theirs` with a team one of its own."""

    mine: Organisation
    theirs: Organisation
    one: Team
    two: Team
    demo: Team
    foreign: Team
    users: dict[str, User]
    secrets: dict[str, str]
    keys: dict[str, ApiKey]


def user_of(name: str, organisation: Organisation, team: Team | None, role: Role) -> User:
    """A user with one membership."""
    # Without a password: hashing one takes longer than the rest of the test.
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, organisation=organisation, team=team, role=role)
    return user


def build() -> World:
    """Make it."""
    mine = Organisation.objects.create(name="Mine", slug="mine", created_at=NOW)
    theirs = Organisation.objects.create(name="Theirs", slug="theirs", created_at=NOW)
    one, two, foreign = (
        Team.objects.create(organisation=organisation, slug=slug, name=slug.title(), created_at=NOW)
        for organisation, slug in ((mine, "one"), (mine, "two"), (theirs, "one"))
    )
    demo = Team.objects.create(organisation=mine, slug="demo", name="Demo", is_demo=True, created_at=NOW)
    users = {
        "viewer": user_of("viewer", mine, one, Role.VIEWER),
        "editor": user_of("editor", mine, one, Role.EDITOR),
        "admin": user_of("admin", mine, one, Role.ADMIN),
        "organisation_admin": user_of("organisation_admin", mine, None, Role.ADMIN),
        "other_admin": user_of("other_admin", mine, two, Role.ADMIN),
        "foreign_admin": user_of("foreign_admin", theirs, None, Role.ADMIN),
        "nobody": User.objects.create_user("nobody"),
    }
    issued = {
        "ingest_key": keys.issue(kind=KeyKind.INGEST, now=NOW, team=one),
        "read_key": keys.issue(kind=KeyKind.READ, now=NOW, team=one),
        "admin_key": keys.issue(kind=KeyKind.ADMIN, now=NOW, organisation=mine),
        "other_read_key": keys.issue(kind=KeyKind.READ, now=NOW, team=two),
        "foreign_admin_key": keys.issue(kind=KeyKind.ADMIN, now=NOW, organisation=theirs),
    }
    return World(
        mine,
        theirs,
        one,
        two,
        demo,
        foreign,
        users,
        {name: secret for name, (_, secret) in issued.items()},
        {name: key for name, (key, _) in issued.items()},
    )


def session_in(team: Team, name: str, *, at: datetime = NOW, **fields: object) -> Session:
    """A folded session of one call: 1,000 uncached tokens in, 100 out, one cent."""
    project, _ = Project.objects.get_or_create(team=team, name="github.com/acme/api", defaults={"is_strong": True})
    given: dict[str, object] = {
        "host": "claude-code",
        "created_at": at,
        "received_at": at,
        "first_at": at,
        "last_at": at + timedelta(minutes=1),
        "project": project,
        "model": "claude-sonnet-4-5-20250929",
        "calls": 1,
        "threads": 1,
        "uncached_input": 1_000,
        "output": 100,
        "cost_usd": Decimal("0.01"),
        "no_cache_cost_usd": Decimal("0.01"),
        **fields,
    }
    session = Session.objects.create(team=team, host_session_id=name, **given)
    call_in(session, number=1, at=at)
    Thread.objects.create(
        session=session, key="", digest="", calls=1, tokens=1_100, first_at=at, last_at=at, cost_usd=session.cost_usd
    )
    slot_in(session, at)
    return session


def call_in(session: Session, *, number: int, at: datetime, **fields: object) -> Call:
    """A call of the main chain, GREEN."""
    given: dict[str, object] = {
        "key": f"m:{session.pk}-{number}",
        "digest": "",
        "purpose": "turn",
        "model": "claude-sonnet-4-5-20250929",
        "uncached_input": 1_000,
        "cache_read": 0,
        "cache_write_5m": 0,
        "cache_write_1h": 0,
        "cache_write_unknown_ttl": 0,
        "output": 100,
        "occupancy": 1_000,
        "zone": "GREEN",
        "cost_usd": Decimal("0.01"),
        "is_explained": True,
        **fields,
    }
    given.setdefault("needed_usd", given["cost_usd"])
    return Call.objects.create(session=session, number=number, started_at=at, **given)


def slot_in(session: Session, at: datetime, **fields: object) -> UsageSlot:
    """The roll-up of one call at `at`."""
    slot = at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)
    given: dict[str, object] = {
        "model": "claude-sonnet-4-5-20250929",
        "calls": 1,
        "aux_calls": 0,
        "uncached_input": 1_000,
        "cache_read": 0,
        "cache_write_5m": 0,
        "cache_write_1h": 0,
        "cache_write_unknown_ttl": 0,
        "output": 100,
        "cost_usd": Decimal("0.01"),
        "no_cache_cost_usd": Decimal("0.01"),
        "unpriced_calls": 0,
        "is_explained": True,
        "green": 1,
        **fields,
    }
    given.setdefault("needed_usd", given["cost_usd"])
    key = f"{int(slot.timestamp() * 1000)}:{given['model']}"
    made = UsageSlot.objects.create(session=session, key=key, digest="", slot_at=slot, **given)
    day_sums.renew([session.pk])
    return made


def changed_in(session: Session, **fields: object) -> None:
    """All quarters of a session with these sums instead."""
    UsageSlot.objects.filter(session=session).update(**fields)
    day_sums.renew([session.pk])


def missed_in(session: Session, at: datetime, **fields: object) -> None:
    """One quarter's misses of one cause."""
    given: dict[str, object] = {"model": "claude-sonnet-4-5-20250929", "part": "avoidable", "misses": 1, **fields}
    MissSlot.objects.create(session=session, slot_at=at, **given)
    day_sums.renew([session.pk])


def compaction_in(session: Session, *, number: int, at: datetime | None, **fields: object) -> Compaction:
    """A completed compaction."""
    given: dict[str, object] = {
        "key": f"x:{session.pk}-{number}",
        "digest": "",
        "kind": "compaction",
        "state": "completed",
        "trigger": "manual",
        **fields,
    }
    return Compaction.objects.create(session=session, number=number, at=at, **given)
