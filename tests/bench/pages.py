"""Pages at size: `python -m tests.bench.pages [SESSIONS]` beside a running server that holds one imported session.

Copies the newest session with ten calls (each five times) until there are so many sessions, spread over 90 days, then
asks each page in this process. Printed: queries, server time (median, 95th percentile, and of the first request after
a hundred calls arrived), processor time with PostgreSQL's, bytes of HTML, how often a bare view goes into the page's
median in the same run, and what 200 pages that follow a session take.
"""

import functools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.test import Client

    from sessions_app.models import Session

REPEATS = 40
LOOKS = 500
EACH = 5
MODELS = ("claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5.1-codex", "claude-opus-5")
PAGES = (
    "/?period=7d",
    "/?period=90d",
    "/sessions/?period=30d",
    "/sessions/?period=90d&sort=cost",
    "/compactions/?period=30d",
    "/compactions/?period=90d&sort=net",
    "/compactions/points/?period=90d",
    "/context/?period=90d",
    "/context/discipline/?period=90d",
    "/tables/?period=90d&by=project",
    "/tables/?period=90d&by=model",
    "/tables/?period=90d&by=cause",
    "/cache/?period=30d",
    "/cache/?period=90d",
    "/sources/",
    "/connect/",
    "/policy/",
)


def copy(sessions: int) -> int:
    """Copies of one session with all its rows; gives how many calls are stored."""
    from django.db import connection, models

    from sessions_app.models import Call, Clearing, Compaction, MissSlot, Session, Thread, ToolUse, UsageSlot
    from sessions_app.services import day_sums

    source = (
        Session.objects.filter(calls__gte=9, compactions=1).exclude(host_session_id__startswith="copy-").latest("pk")
    )
    shift = "make_interval(mins => (n * 7919) % 129600)"
    several = _several(source)
    newest = "(now() - TIMESTAMPTZ '" + str(source.last_at) + "')"

    def copied(model: type[models.Model], where: str, joined: str, changed: dict[str, str]) -> None:
        names = [str(field.column) for field in model._meta.concrete_fields if not field.primary_key]
        table = model._meta.db_table
        times = {
            str(field.column): f'{table}."{field.column}" + {newest} - {shift}'
            for field in model._meta.concrete_fields
            if isinstance(field, models.DateTimeField)
        }
        if "slot_at" in times:
            quarter = f"date_bin(INTERVAL '15 minutes', {times['slot_at']}, TIMESTAMPTZ '2000-01-01')"
            times["slot_at"] = f"{quarter} + k * INTERVAL '15 minutes'"
        chosen = ", ".join({**times, **changed}.get(name, f'{table}."{name}"') for name in names)
        quoted = ", ".join(f'"{name}"' for name in names)
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} ({quoted}) SELECT {chosen} FROM {table}, {joined} WHERE {where}")

    copied(
        Session,
        f"sessions_app_session.id = {source.pk}",
        f"generate_series(1, {sessions}) n",
        {
            "host_session_id": "'copy-' || n",
            **{name: f"sessions_app_session.{name} * {EACH}" for name in ("calls", "cost_usd", "no_cache_cost_usd")},
            "host": several["host"],
            "project_id": several["project_id"],
            "model": several["model"],
        },
    )
    others = (
        "(SELECT id AS other, substr(host_session_id, 6)::int AS n FROM sessions_app_session"
        " WHERE host_session_id LIKE 'copy-%') o"
    )
    times = f"{others}, generate_series(0, {EACH - 1}) k"
    of_source = "{}.session_id = " + str(source.pk)
    numbered = {"session_id": "other", "key": "key || '-' || k", "number": "number + k * 10", "model": several["model"]}
    copied(Call, of_source.format("sessions_app_call"), times, numbered)
    slot = {"session_id": "other", "key": "key || '-' || k", "model": several["model"]}
    copied(UsageSlot, of_source.format("sessions_app_usageslot"), times, slot)
    missed = {"session_id": "other", **{name: several[name] for name in ("model", "cause", "part")}}
    copied(MissSlot, of_source.format("sessions_app_missslot"), times, missed)
    for model in (Compaction, Thread, ToolUse, Clearing):
        copied(model, of_source.format(model._meta.db_table), others, {"session_id": "other"})
    day_sums.renew(Session.objects.filter(host_session_id__startswith="copy-").values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return Call.objects.count()


def _several(source: "Session") -> dict[str, str]:
    """SQL by column: what differs from copy to copy, so that plans are those of a real team."""
    from sessions_app.kernel.causes import PART_OF, Cause
    from sessions_app.models import Project

    projects = [Project.objects.get_or_create(team_id=source.team_id, name=f"bench-{n}")[0].pk for n in range(8)]
    causes = [cause.value for cause in Cause]
    parts = [PART_OF[cause].value for cause in Cause]

    def one_of(values: Sequence[object], index: str) -> str:
        return f"(ARRAY{list(values)})[1 + ({index}) % {len(values)}]"

    # By the source's own place among the causes, so that two of one quarter stay two.
    turned = f"array_position(ARRAY{causes}, sessions_app_missslot.cause::text) + n"
    return {
        "project_id": one_of(projects, "n * 31 / 7"),
        "host": one_of(("claude-code", "claude-code", "codex", "opencode", "copilot"), "n"),
        "model": one_of(MODELS, "n * 13 / 5"),
        "cause": one_of(causes, turned),
        "part": one_of(parts, turned),
    }


def timed(work: Callable[[], object]) -> list[float]:
    """Milliseconds of each repeat, the first one left out."""
    found: list[float] = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1000)
    return sorted(found[1:])


def arrive(number: int) -> None:
    """A hundred calls of one more session of the viewed team, told in the product's own format and folded."""
    from django.utils import timezone

    from sessions_app.feeds.base import Context
    from sessions_app.feeds.registry import FEEDS
    from sessions_app.models import Session
    from sessions_app.services import folding, ingest
    from sessions_app.services.ingest import Sender

    now = timezone.now()
    stamp = int(now.timestamp() * 1000)
    calls = [
        {
            **{"type": "call", "session": f"arrived-{stamp}-{number}", "project": "bench-1", "model": MODELS[0]},
            **{"message_id": f"{stamp}-{number}-{n}", "started_at": stamp - 100_000 + n * 900},
            **{"uncached_input": 10, "cache_read": n * 900, "cache_write_5m": 900, "output": 50},
        }
        for n in range(100)
    ]
    team = Session.objects.filter(host_session_id__startswith="copy-")[0].team_id
    ingest.receive(
        sender=Sender(team),
        feed=FEEDS["canonical"],
        body=json.dumps(calls).encode(),
        context=Context(received_ms=stamp, final=True),
        now=now,
    )
    session = Session.objects.get(host_session_id=f"arrived-{stamp}-{number}")
    folding.fold_session(session_id=session.pk, now=now)


def measure(pages: Sequence[str]) -> None:
    """Ask each page as the administrator and print one line for it; first of all right after calls arrived."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from sessions_app.models import Session

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username="admin"))
    floor = statistics.median(timed(lambda: client.get("/healthz")))
    print(f"bare view {floor:.1f} ms")
    session = Session.objects.filter(host_session_id__startswith="copy-").latest("pk").pk
    client.get(pages[0])
    for number, page in enumerate((*pages, f"/sessions/{session}/")):
        queries: list[str] = []

        def counted(execute: Any, statement: str, *rest: Any, found: list[str] = queries) -> Any:
            found.append(statement)
            return execute(statement, *rest)

        arrive(number)
        start = time.perf_counter()
        with connection.execute_wrapper(counted):
            answer = client.get(page)
        fresh = (time.perf_counter() - start) * 1000
        if answer.status_code != 200:
            print(f"{page:40} {answer.status_code}")
            continue
        used, times = processor(connection), timed(functools.partial(client.get, page))
        used = (processor(connection) - used) / (REPEATS + 1) * 1000
        middle, high = statistics.median(times), times[int(len(times) * 0.95)]
        size = len(answer.content) / 1000
        figures = f"{middle:6.1f} ms  p95 {high:6.1f}  after an ingest {fresh:6.1f}  CPU {used:6.1f}  {size:6.1f} kB"
        print(f"{page:40} {len(queries):3} queries  {figures}  {middle / floor:5.0f} times the floor")
    follow(client, session)


def processor(connection: Any) -> float:
    """Seconds of processor that this process and its PostgreSQL backend have used."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def follow(client: "Client", session: int) -> None:
    """What a look costs that finds nothing new, and what 200 open pages take of one core at their own pace."""
    from django.db import connection

    from sessions_app.dashboard.follow import PACES

    address, part = f"/sessions/{session}/", {"HX-Target": "follow"}
    etag = client.get(address, headers=part).headers["ETag"]
    used = processor(connection)
    for _ in range(LOOKS):
        assert client.get(address, headers={**part, "If-None-Match": etag}).status_code == 304
    each = (processor(connection) - used) / LOOKS
    print(f"a look that finds nothing: {each * 1000:.2f} ms of processor")
    for silent, every in PACES:
        print(f"  200 pages silent for less than {silent}: every {every} s, {200 / every * each:.1%} of a core")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ecm_site.settings")
    import django

    django.setup()
    # How the web process collects garbage.
    import ecm_site.wsgi  # noqa: F401

    if len(sys.argv) > 1:
        print(f"{copy(int(sys.argv[1])):,} calls stored")
    measure(PAGES)
