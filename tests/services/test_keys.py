"""Keys: hashed at rest, remembered for a short while."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from sessions_app.models import ApiKey, KeyKind
from sessions_app.services import keys
from tests.support.world import NOW, build

pytestmark = pytest.mark.django_db


def test_issue__new_key__is_stored_as_a_hash_only() -> None:
    world = build()
    key, secret = keys.issue(kind=KeyKind.INGEST, now=NOW, team=world.one)
    stored = "|".join(str(value) for value in ApiKey.objects.values().get(pk=key.pk).values())
    assert secret not in stored
    assert secret.startswith(key.prefix)
    assert len(secret) - len(key.prefix) > 30


def test_issue__secret_of_a_person__shows_little_of_itself() -> None:
    world = build()
    key, secret = keys.issue(kind=KeyKind.INGEST, now=NOW, team=world.one, secret="short-one")
    assert secret == "short-one"
    assert key.prefix == "sh"


def test_issue__ingest_key_without_team__is_refused_by_the_database() -> None:
    world = build()
    with pytest.raises(IntegrityError), transaction.atomic():
        keys.issue(kind=KeyKind.INGEST, now=NOW, organisation=world.mine)


def test_issue__team_of_another_organisation__is_refused() -> None:
    world = build()
    with pytest.raises(ValueError, match="organisation"):
        keys.issue(kind=KeyKind.INGEST, now=NOW, team=world.foreign, organisation=world.mine)


def test_authenticate__known_and_unknown_secret__ask_the_database_once() -> None:
    world = build()
    for secret, is_known in ((world.secrets["ingest_key"], True), ("nobody-has-this", False)):
        with CaptureQueriesContext(connection) as queries:
            holders = [keys.authenticate(secret) for _ in range(3)]
        assert [holder is not None for holder in holders] == [is_known] * 3
        assert len(queries) == 1


def test_authenticate__key_made_after_its_first_use__works_at_once() -> None:
    world = build()
    assert keys.authenticate("soon-a-key") is None
    keys.issue(kind=KeyKind.READ, now=NOW, team=world.one, secret="soon-a-key")
    assert keys.authenticate("soon-a-key") is not None


@pytest.mark.parametrize("secret", ["", "x" * 513, "\ud800", "a\0b"])
def test_authenticate__odd_secret__is_nobodys(secret: str) -> None:
    assert keys.authenticate(secret) is None


def test_authenticate__flood_of_wrong_keys__does_not_push_out_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = build()
    monkeypatch.setattr(keys, "MOST_REMEMBERED", 3)
    keys.authenticate(world.secrets["ingest_key"])
    for number in range(10):
        keys.authenticate(f"wrong-{number}")
    with CaptureQueriesContext(connection) as queries:
        assert keys.authenticate(world.secrets["ingest_key"]) is not None
    assert len(queries) == 0
