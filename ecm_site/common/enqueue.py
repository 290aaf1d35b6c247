"""Enqueue after commit, at once or not at all.

The dirty mark in the database is the durable queue; a message only shortens the wait. So a broker
that is away may cost a request about `PATIENCE_SECONDS` once per `REST_SECONDS`, and never an error.
"""

import logging
import threading
import time

from celery import Celery, current_app
from django.db import transaction
from kombu import Connection

PATIENCE_SECONDS = 0.2
REST_SECONDS = 2.0
COMPLAINT_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Outbox(threading.local):
    """One broker connection per thread: kombu's connections are not shared between threads."""

    connection: Connection | None = None


class Breaker:
    """Remembers that the broker was away, so that not every request waits for it."""

    def __init__(self) -> None:
        self.closed_until = 0.0
        self.silent_until = 0.0

    def is_open(self) -> bool:
        """Whether an attempt makes sense now."""
        return time.monotonic() >= self.closed_until

    def trip(self, error: Exception) -> None:
        """Rest, and say so once a minute."""
        at = time.monotonic()
        self.closed_until = at + REST_SECONDS
        if at >= self.silent_until:
            self.silent_until = at + COMPLAINT_SECONDS
            logger.warning("The broker does not answer (%s). The sweep will find what is dirty.", type(error).__name__)


outbox = Outbox()
breaker = Breaker()


def enqueue_on_commit(task_name: str, *args: object, seconds: float = 0.0) -> None:
    """Send the task when the transaction is through, to be run in so many seconds; JSON arguments only.

    Never raises, never retries.
    """
    transaction.on_commit(lambda: send(task_name, *args, seconds=seconds), robust=True)


def send(task_name: str, *args: object, seconds: float = 0.0) -> bool:
    """Hand one task to the broker now; False when it did not take it."""
    app = current_app
    if task_name not in app.tasks:
        app.loader.import_default_modules()
    # `send_task` would ignore eager mode; the registry does not.
    task = app.tasks[task_name]
    if app.conf.task_always_eager:
        task.apply(args)
        return True
    if not breaker.is_open():
        return False
    try:
        producer = app.amqp.Producer(_connection(app), auto_declare=False)
        task.apply_async(args, countdown=seconds, producer=producer, retry=False, ignore_result=True)
    except Exception as error:  # whatever a transport raises, the request is not at fault
        _drop()
        breaker.trip(error)
        return False
    return True


def broker_answers() -> bool:
    """Whether a message would be taken now."""
    try:
        channel = _connection(current_app).default_channel
        client = getattr(channel, "client", None)
        return client is None or bool(client.ping())
    except Exception:  # as in `send`
        _drop()
        return False


def _connection(app: Celery) -> Connection:
    if outbox.connection is None:
        options: dict[str, object] = {"max_retries": 0, "connect_retries_timeout": PATIENCE_SECONDS}
        if not str(app.conf.broker_url).startswith("filesystem"):
            options |= {"socket_connect_timeout": PATIENCE_SECONDS, "socket_timeout": PATIENCE_SECONDS}
        outbox.connection = app.connection_for_write(connect_timeout=PATIENCE_SECONDS, transport_options=options)
    return outbox.connection


def _drop() -> None:
    connection, outbox.connection = outbox.connection, None
    if connection is not None:
        connection.release()
