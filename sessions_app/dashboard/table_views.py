"""Views of the five tables."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from sessions_app.dashboard.billing import billing_of_teams
from sessions_app.dashboard.scope import scope_of
from sessions_app.dashboard.table_files import as_csv, as_json
from sessions_app.dashboard.tables import GROUPS, table_page

FORMS = {"csv": (as_csv, "text/csv; charset=utf-8"), "json": (as_json, "application/json")}


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_table(request: HttpRequest) -> HttpResponse:
    """One of the tables; `by` says which."""
    scope = scope_of(request.user, request.GET)
    page = table_page(request.user, scope, request.GET.get("by", ""), clock.now())
    billing = billing_of_teams(scope.team.ids, page.now)
    return render(request, "tables/page.html", {"page": page, "scope": scope, "billing": billing, "here": "tables"})


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def give_table(request: HttpRequest, by: str, form: str) -> HttpResponse:
    """The same lines as a file."""
    if by not in GROUPS or form not in FORMS:
        raise Http404
    write, kind = FORMS[form]
    page = table_page(request.user, scope_of(request.user, request.GET), by, clock.now())
    answer = HttpResponse(write(page), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="ecm-{by}.{form}"'
    return answer
