"""Signing in by the link that the server printed at its start."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from ecm_site.common import clock
from sessions_app.services import entry

BACKEND = "django.contrib.auth.backends.ModelBackend"
REASONS = {
    "used": "This link was used already. Each link signs in once.",
    "expired": "This link was valid for ten minutes, and they are over.",
    "unknown": "This link is not known here. Maybe it was cut off when it was copied.",
}


@require_safe
@never_cache
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in once and go to the overview; otherwise say what to do. Looking ahead does not use up the link."""
    purpose = request.headers.get("Sec-Purpose", "") + request.headers.get("Purpose", "")
    if request.method == "HEAD" or "prefetch" in purpose:
        return HttpResponse(status=204)
    try:
        user = entry.redeem(token=token, now=clock.now())
    except entry.EntryError as refusal:
        # A second click on the link of somebody who is in already needs no lesson.
        if request.user.is_authenticated:
            return redirect("/")
        return render(request, "registration/entry.html", {"reason": REASONS[refusal.code]}, status=410)
    login(request, user, backend=BACKEND)
    return redirect("/")
