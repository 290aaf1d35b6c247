"""Refusals by name: `DomainError`, and its form on the wire, RFC 9457 `application/problem+json`.

Shape: {"type": "about:blank", "title": str, "status": int, "code": str, "detail": str, ...data}.
`code` is stable and is what a client may test. Nothing internal is told: no class, no trace, no SQL.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus

from django.core.exceptions import PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.views import set_rollback

CONTENT_TYPE = "application/problem+json"
#: Addresses that machines talk to; everything else is read by people.
API_PREFIXES = ("/api/", "/otlp/")

#: After how many seconds a sender should try again while the database is away.
RETRY_SECONDS = 5

logger = logging.getLogger(__name__)


class DomainError(Exception):
    """A refusal with a stable code. `data` goes to the client; keep secrets and contents out of it."""

    def __init__(self, code: str, message: str, status: int = 400, **data: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data


def is_api(request: HttpRequest) -> bool:
    """Whether a machine asked."""
    return request.path.startswith(API_PREFIXES)


def problem(code: str, detail: str, status: int, **data: object) -> HttpResponse:
    """The answer for one refusal."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "code": code, "detail": detail}
    return HttpResponse(json.dumps(body | data, cls=DjangoJSONEncoder), status=status, content_type=CONTENT_TYPE)


def exception_handler(exc: Exception, context: Mapping[str, object]) -> HttpResponse | None:
    """DRF's hook. None leaves an unknown exception to Django, which logs it and calls handler500."""
    response = _answer(exc)
    if response is not None:
        set_rollback()
    return response


def _answer(exc: Exception) -> HttpResponse | None:
    if isinstance(exc, DomainError):
        return problem(exc.code, exc.message, exc.status, **exc.data)
    if isinstance(exc, Http404):
        return problem("not_found", "There is nothing at this address.", 404)
    if isinstance(exc, PermissionDenied):
        return problem("permission_denied", "You may not do this.", 403)
    if isinstance(exc, OperationalError | InterfaceError):
        return _without_database(exc)
    if isinstance(exc, exceptions.ValidationError):
        return problem("invalid", "Some fields are not valid.", 400, errors=list(_errors(exc.get_full_details())))
    if isinstance(exc, exceptions.APIException):
        return _of_framework(exc)
    return None


def _without_database(exc: Exception) -> HttpResponse:
    """Senders try a 503 again and may give up after a 500; what they sent was not stored."""
    logger.error("database unavailable: %s", type(exc).__name__)
    response = problem("database_unavailable", "The database cannot be reached now. Please send it again.", 503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _of_framework(exc: exceptions.APIException) -> HttpResponse:
    code = exc.get_codes()
    response = problem(code if isinstance(code, str) else exc.default_code, str(exc.detail), exc.status_code)
    if (challenge := getattr(exc, "auth_header", None)) is not None:
        response.headers["WWW-Authenticate"] = challenge
    if (wait := getattr(exc, "wait", None)) is not None:
        response.headers["Retry-After"] = str(int(wait) + 1)
    return response


def _errors(details: object, pointer: str = "") -> Iterator[dict[str, str]]:
    """{pointer, code, message} for each refused field, whatever the nesting."""
    if isinstance(details, dict):
        if "message" in details and "code" in details and not isinstance(details["message"], dict | list):
            yield {"pointer": pointer, "code": str(details["code"]), "message": str(details["message"])}
            return
        for name, inner in details.items():
            yield from _errors(inner, pointer if name == "non_field_errors" else f"{pointer}/{name}")
    elif isinstance(details, list):
        for position, inner in enumerate(details):
            leaf = isinstance(inner, dict) and set(inner) == {"message", "code"}
            yield from _errors(inner, pointer if leaf else f"{pointer}/{position}")
