"""The first start, and every later one."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from sessions_app.models import ApiKey, Membership, Organisation, PriceRow, Role, Team
from sessions_app.services import keys
from sessions_app.services.installation import ensure_installation
from tests.support.world import NOW

pytestmark = pytest.mark.django_db


def test_ensure_installation__nothing_given__makes_secrets_and_tells_them_once() -> None:
    first = ensure_installation(admin_password=None, ingest_key=None, admin_key=None, now=NOW)
    assert first.admin_password is not None
    assert first.admin.check_password(first.admin_password)
    assert first.ingest_key is not None
    assert first.admin_key is not None
    holders = [keys.authenticate(secret) for secret in (first.ingest_key, first.admin_key)]
    assert [(h.kind, h.team_id) for h in holders if h] == [("ingest", first.team.pk), ("admin", None)]
    again = ensure_installation(admin_password=None, ingest_key=None, admin_key=None, now=NOW)
    assert (again.admin_password, again.ingest_key, again.admin_key) == (None, None, None)
    assert [m.objects.count() for m in (Organisation, Team, User, Membership)] == [1, 1, 1, 1]
    assert ApiKey.objects.count() == 2
    assert Membership.objects.get().role == Role.ADMIN
    assert Membership.objects.get().team is None


def test_ensure_installation__secrets_given__are_put_in_force_and_not_told() -> None:
    for _ in range(2):
        done = ensure_installation(admin_password="pass-of-mine", ingest_key="in-1", admin_key="ad-1", now=NOW)
        assert (done.admin_password, done.ingest_key, done.admin_key) == (None, None, None)
    assert done.admin.check_password("pass-of-mine")
    assert [bool(keys.authenticate(secret)) for secret in ("in-1", "ad-1")] == [True, True]
    assert ApiKey.objects.count() == 2


def test_ensure_installation__other_secrets_later__work_beside_the_first() -> None:
    ensure_installation(admin_password="one", ingest_key="in-1", admin_key=None, now=NOW)
    done = ensure_installation(admin_password="two", ingest_key="in-2", admin_key=None, now=NOW)
    assert done.admin.check_password("two")
    assert [bool(keys.authenticate(secret)) for secret in ("in-1", "in-2")] == [True, True]


def test_first_run__command__prints_one_json_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECM_INGEST_KEY", "given-ingest-key")
    monkeypatch.setenv("ECM_ADMIN_PASSWORD", "given-password")
    monkeypatch.delenv("ECM_ADMIN_KEY", raising=False)
    told = []
    for _ in range(2):
        out = StringIO()
        call_command("first_run", stdout=out)
        told.append(json.loads(out.getvalue()))
    assert told[0]["entry_path"].startswith("/enter/")
    assert told[0]["entry_path"] != told[1]["entry_path"]
    assert [t["admin_password"] for t in told] == [None, None]
    assert [t["ingest_key"] for t in told] == [None, None]
    assert told[0]["admin_key"]
    assert told[1]["admin_key"] is None
    assert told[0]["prices_added"] == PriceRow.objects.count() > 400
    assert told[1]["prices_added"] == 0
