"""Error answers outside of any view: a page for people, a problem for machines."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ecm_site.common.problems import is_api, problem


def _answer(request: HttpRequest, status: int, code: str, title: str, text: str) -> HttpResponse:
    if is_api(request):
        return problem(code, text, status)
    # No context processor runs without a request: this page must come up when the database does not.
    response = render(None, "errors/page.html", {"title": title, "text": text, "status": status}, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400"""
    return _answer(request, 400, "bad_request", "Not understood", "The request could not be understood.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403"""
    return _answer(request, 403, "permission_denied", "Not allowed", "Your role does not allow this.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404"""
    return _answer(request, 404, "not_found", "Not found", "There is nothing at this address, or you may not see it.")


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500"""
    text = "Something failed here, not with you. It is in the log; trying again may help."
    return _answer(request, 500, "server_error", "Something failed", text)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form came from elsewhere, or its page was older than the sign-in."""
    text = "This form is out of date. Go back, load the page again and send it once more."
    return _answer(request, 403, "csrf_failed", "Form out of date", text)
