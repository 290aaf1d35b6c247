"""A WSGI application that reads one bounded body and says what it got; granian serves it in tests."""

import hashlib
import json
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ecm_site.settings")

from collections.abc import Callable, Iterable

from django.core.handlers.wsgi import WSGIRequest

from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError

LIMIT, INFLATED = 1_000_000, 2_000_000


def application(
    environ: dict[str, object], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """{"size": …, "sha256": …} or {"code": …}."""
    try:
        body = read_body(WSGIRequest(environ), LIMIT, INFLATED)
        answer = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        status = "200 OK"
    except DomainError as error:
        answer, status = {"code": error.code}, f"{error.status} Refused"
    start_response(status, [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
