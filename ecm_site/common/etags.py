"""Answers that a client asks for again: 304 while it has the newest."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


def tagged(request: HttpRequest, tag: str, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """`answer()` with the ETag, or 304 without making it where the caller names that tag already."""
    quoted = f'"{tag}"'
    known = request.headers.get("If-None-Match", "")
    is_known = known.strip() == "*" or quoted in (each.strip().removeprefix("W/") for each in known.split(","))
    response = HttpResponse(status=304) if is_known else answer()
    response.headers["ETag"] = quoted
    response.headers["Cache-Control"] = "private, no-cache"
    return response
