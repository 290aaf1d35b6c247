"""Bearer keys: told once in clear, kept as SHA-256, recognised through a short memory."""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from sessions_app.models import ApiKey, Developer, KeyKind, Organisation, Team

#: A revoked key may live on in other processes for so long.
REMEMBER_SECONDS = 30.0
MOST_REMEMBERED = 10_000
#: Longer secrets are nobody's; they are refused before they are hashed.
LONGEST_SECRET = 512


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Who holds a key: one team, or (admin keys without a team) the whole organisation."""

    key_id: int
    kind: KeyKind
    organisation_id: int
    team_id: int | None
    #: Identity of the developer whose personal key it is.
    developer: str | None


class _Memory:
    """Digests seen lately, the oldest forgotten first; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, tuple[float, KeyHolder | None]] = OrderedDict()

    def get(self, digest: str) -> tuple[bool, KeyHolder | None]:
        """Whether the digest is remembered, and what it stands for."""
        with self._lock:
            until, holder = self._held.get(digest, (0.0, None))
            return until > time.monotonic(), holder

    def put(self, digest: str, holder: KeyHolder | None) -> None:
        with self._lock:
            self._held[digest] = (time.monotonic() + REMEMBER_SECONDS, holder)
            self._held.move_to_end(digest)
            if len(self._held) > MOST_REMEMBERED:
                self._held.popitem(last=False)

    def forget(self, digest: str) -> None:
        with self._lock:
            self._held.pop(digest, None)


# Apart, so that a flood of wrong keys does not push the right ones out.
_known, _unknown = _Memory(), _Memory()


def issue(
    *,
    kind: KeyKind,
    now: datetime,
    team: Team | None = None,
    organisation: Organisation | None = None,
    label: str = "",
    developer: Developer | None = None,
    secret: str | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which is not stored. A given `secret` is taken as it is.

    Raises ValueError where neither team nor organisation is given, or they contradict each other.
    """
    owner = team.organisation if team is not None else organisation
    if owner is None or (organisation is not None and organisation.pk != owner.pk):
        raise ValueError("a key needs a team or an organisation, and the team must be of the organisation")
    # Of a secret that a person chose, less is shown: it may be short.
    told = secret if secret is not None else f"ecm{kind[0]}_{secrets.token_urlsafe(32)}"
    prefix = told[:12] if secret is None else told[: min(4, len(told) // 4)]
    key = ApiKey.objects.create(
        organisation=owner,
        team=team,
        developer=developer,
        kind=kind,
        label=label,
        prefix=prefix,
        digest=digest_of(told),
        created_at=now,
    )
    _unknown.forget(key.digest)
    return key, told


def revoke(*, key: ApiKey, now: datetime) -> None:
    """End a key: here at once, in other processes when their memory of it ends."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    _known.forget(key.digest)


def authenticate(secret: str) -> KeyHolder | None:
    """The holder of a secret; None when nobody holds it (any more)."""
    if not secret or len(secret) > LONGEST_SECRET:
        return None
    digest = digest_of(secret)
    for memory in (_known, _unknown):
        is_fresh, holder = memory.get(digest)
        if is_fresh:
            return holder
    holder = _look_up(digest)
    (_known if holder else _unknown).put(digest, holder)
    return holder


def digest_of(secret: str) -> str:
    """What is stored. The secrets are random, so a plain hash is enough and costs no time per delivery."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _look_up(digest: str) -> KeyHolder | None:
    row = (
        ApiKey.objects.filter(digest=digest, revoked_at=None)
        .values_list("pk", "kind", "organisation_id", "team_id", "developer__identity")
        .first()
    )
    if row is None:
        return None
    key_id, kind, organisation_id, team_id, developer = row
    return KeyHolder(key_id, KeyKind(kind), organisation_id, team_id, developer)
