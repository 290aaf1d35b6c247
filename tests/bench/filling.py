"""Fill a database with many calls by copying one: `python -m tests.bench.filling CALLS` beside a running server."""

import os
import sys

CALLS_EACH = 500


def fill(calls: int) -> int:
    """Sessions of `CALLS_EACH` copied calls; gives how many calls are stored."""
    from django.db import connection, models

    from sessions_app.models import Call, Session, Team
    from tests.support.world import NOW, call_in

    def copied(model: type[models.Model], pk: int, source: str, **changed: str) -> None:
        names = [str(field.column) for field in model._meta.concrete_fields if not field.primary_key]
        table, columns = model._meta.db_table, ", ".join(f'"{name}"' for name in names)
        chosen = ", ".join(changed.get(name, f'{table}."{name}"') for name in names)
        rows = f"SELECT {chosen} FROM {table}, {source} WHERE {table}.id = {pk}"
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} ({columns}) {rows}")

    team = Team.objects.order_by("pk")[0]
    first = Session.objects.create(
        team=team, host="claude-code", host_session_id="old", created_at=NOW, received_at=NOW, last_at=NOW
    )
    call = call_in(first, number=1, at=NOW)
    copied(Session, first.pk, f"generate_series(1, {calls // CALLS_EACH}) n", host_session_id="'old' || n")
    others = "(SELECT id AS other FROM sessions_app_session WHERE host_session_id LIKE 'old_%') o"
    copied(
        Call, call.pk, f"{others}, generate_series(1, {CALLS_EACH}) n", session_id="other", key="'m:' || n", number="n"
    )
    with connection.cursor() as cursor:
        # What autovacuum does within minutes would otherwise run while somebody measures.
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")
    return Call.objects.count()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ecm_site.settings")
    import django

    django.setup()
    print(f"{fill(int(sys.argv[1])):,} calls stored")
