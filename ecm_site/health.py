"""Two addresses for probes; neither needs a login, neither tells anything internal."""

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from ecm_site.common.enqueue import broker_answers


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers; asks nothing of others."""
    return HttpResponse("ok\n", content_type="text/plain")


class Schema:
    """Whether every migration is applied. Once seen it stays true: migrations only come with a restart."""

    current = False

    @classmethod
    def is_current(cls) -> bool:
        """True when nothing is left to apply."""
        if not cls.current:
            executor = MigrationExecutor(connection)
            cls.current = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        return cls.current


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when requests can be served: database there and migrated. The broker is told, not required:
    what is dirty stays dirty in the database, and the sweep folds it when the broker is back.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        schema = "ok" if Schema.is_current() else "migrations_pending"
        database = "ok"
    except DatabaseError:
        database, schema = "unreachable", "unknown"
    ready = database == schema == "ok"
    body = {
        "status": "ready" if ready else "not_ready",
        "database": database,
        "schema": schema,
        "broker": "ok" if broker_answers() else "unreachable",
        "transport": settings.CELERY_BROKER_URL.partition(":")[0].partition("+")[0],
    }
    return JsonResponse(body, status=200 if ready else 503)
