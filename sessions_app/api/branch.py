"""What other places embed: the bill of a branch as Markdown, and a session's badge as SVG."""

import re

from django.http import Http404, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.views import APIView

from ecm_site.common import figures
from sessions_app.api.auth import READERS, ReadAccess, visible_teams
from sessions_app.models import Session
from sessions_app.services.branch_bill import BranchBill, branch_bill

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~@&])")


class BranchBillView(APIView):
    """`GET /b/PROJECT/BRANCH.md`: a few lines for a pull request."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request, name: str) -> HttpResponse:
        """Markdown; 404 where no session of this branch was seen."""
        bill = branch_bill(name=name, teams=visible_teams(request))
        if bill is None:
            raise Http404
        return HttpResponse(_markdown(bill, request), content_type="text/markdown; charset=utf-8")


def _markdown(bill: BranchBill, request: Request) -> str:
    at_least = "at least " if bill.is_lower_bound else ""
    sessions, calls = figures.plural(bill.sessions, "session"), figures.plural(bill.calls, "call")
    lines = [
        f"**{_plain(bill.project)} · {_plain(bill.branch)}**",
        f"{sessions}, {calls}, {at_least}**{figures.usd(bill.cost_usd)}** at list price",
    ]
    if bill.cost_usd is not None and bill.no_cache_cost_usd is not None:
        saved = figures.usd(bill.no_cache_cost_usd - bill.cost_usd)
        lines.append(f"The cache saved {saved}. {figures.plural(bill.compactions, 'compaction')}.")
    if bill.dearest_permille is not None and bill.sessions > len(bill.dearest):
        share = figures.percent_whole(bill.dearest_permille, 1_000)
        lines.append(f"{share} of the spend in {len(bill.dearest)} of them: {_links(bill, request)}")
    elif bill.dearest:
        lines.append(_links(bill, request))
    return "  \n".join(lines) + "\n"


def _links(bill: BranchBill, request: Request) -> str:
    links = (
        f"[{figures.usd(cost)}]({request.build_absolute_uri(reverse('session-short', args=[pk]))})"
        for pk, cost in bill.dearest
    )
    return ", ".join(links)


def _plain(text: str) -> str:
    """A name that a client sent, so that Markdown shows it and does nothing else with it."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


class BadgeView(APIView):
    """`GET /s/ID/badge.svg`: zone of the fullest context and list price of one session."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request, pk: int) -> HttpResponse:
        """An image of two words and two figures; 404 for sessions of others."""
        session = Session.objects.filter(team__in=visible_teams(request), pk=pk).first()
        if session is None:
            raise Http404
        share = figures.percent_whole(session.peak_occupancy, session.window) if session.window else ""
        left = f"{session.peak_zone} {share}".strip()
        right = f"{'≥ ' if session.lower_bound else ''}{figures.usd(session.cost_usd)}"
        widths = [12 + 7 * len(text) for text in (left, right)]
        context = {
            "left": left,
            "right": right,
            "left_width": widths[0],
            "right_width": widths[1],
            "width": sum(widths),
            "left_middle": widths[0] // 2,
            "right_middle": widths[0] + widths[1] // 2,
            "zone": session.peak_zone,
        }
        answer = HttpResponse(render_to_string("charts/badge.svg", context), content_type="image/svg+xml")
        answer["Cache-Control"] = "private, max-age=60"
        return answer
