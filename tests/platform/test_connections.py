"""A connection to the database that the server has closed is replaced before it is used."""

from typing import Any

import psycopg
import pytest
from celery.signals import task_prerun
from django.core.signals import request_started
from django.db import connection

import ecm_site.celery  # noqa: F401 - the worker's side of it


def backend() -> int:
    """Which of the server's processes answers us."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return int(pid)


def end(pid: int) -> None:
    """Close it from the server's side, as a restart does, and wait until it is gone."""
    with psycopg.connect(
        **connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}, autocommit=True
    ) as other:
        assert other.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,)).fetchone() == (True,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("begins", [request_started, task_prerun])
def test_request_or_task__connection_was_closed_by_the_server__goes_on_with_a_new_one(begins: Any) -> None:
    before = backend()
    begins.send(sender=None)
    assert backend() == before, "a sound connection stays"
    end(before)
    begins.send(sender=None)
    assert backend() != before
