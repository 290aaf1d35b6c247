"""Refusals on the wire, probes, headers, pages of error."""

import json
from collections.abc import Callable

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site import health
from ecm_site.common import pages
from ecm_site.common.problems import DomainError


class Inner(serializers.Serializer[object]):
    n = serializers.IntegerField()


class Outer(serializers.Serializer[object]):
    items = Inner(many=True)


def answer(raising: Callable[[], object]) -> tuple[int, dict[str, object], str]:
    """Status, body and content type of an API view in which this is raised."""

    class View(APIView):
        permission_classes = ()

        def get(self, request: Request) -> Response:
            return Response(raising())

    response = View.as_view()(RequestFactory().get("/api/v1/x"))
    return response.status_code, json.loads(response.content), response.headers["Content-Type"]


def refuse(error: Exception) -> Callable[[], object]:
    def raising() -> object:
        raise error

    return raising


def test_domain_error__code_status_and_data__told() -> None:
    status, body, kind = answer(refuse(DomainError("too_many", "At most 3.", 413, limit=3)))
    assert (status, kind) == (413, "application/problem+json")
    assert (body["code"], body["detail"], body["limit"], body["status"]) == ("too_many", "At most 3.", 3, 413)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404("Session with id 7"), 404, "not_found"),
        (exceptions.NotAuthenticated(), 403, "not_authenticated"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.Throttled(wait=2.3), 429, "throttled"),
        (exceptions.UnsupportedMediaType("x/y"), 415, "unsupported_media_type"),
    ],
)
def test_framework_refusal__stable_code__nothing_internal(error: Exception, status: int, code: str) -> None:
    got, body, _ = answer(refuse(error))
    assert (got, body["code"]) == (status, code)
    assert "id 7" not in json.dumps(body)


@pytest.mark.parametrize("error", [OperationalError("secret host"), InterfaceError("closed")])
def test_database_is_away__503_that_senders_try_again(error: Exception) -> None:
    status, told, _ = answer(refuse(error))
    assert (status, told["code"]) == (503, "database_unavailable")
    assert "secret" not in str(told)


def test_invalid_fields__nested__pointer_to_each() -> None:
    def validate() -> object:
        return Outer(data={"items": [{"n": 1}, {"n": "x"}, {}]}).is_valid(raise_exception=True)

    status, body, _ = answer(validate)
    assert (status, body["code"]) == (400, "invalid")
    errors = body["errors"]
    assert isinstance(errors, list)
    assert [(e["pointer"], e["code"]) for e in errors] == [("/items/1/n", "invalid"), ("/items/2/n", "required")]


def test_unknown_address__api_and_page__problem_and_page(client: Client) -> None:
    api = client.get("/api/v1/nothing")
    assert (api.status_code, api.json()["code"]) == (404, "not_found")
    page = client.get("/nothing")
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")
    assert b"nothing" not in page.content.replace(b"There is nothing", b"")


@pytest.mark.parametrize("path", ["/api/v1/x", "/x"])
def test_server_error__no_database_and_no_context__still_answers(rf: RequestFactory, path: str) -> None:
    response = pages.server_error(rf.get(path))
    assert response.status_code == 500
    assert b"Traceback" not in response.content


def test_every_answer__strict_headers(client: Client) -> None:
    headers = client.get("/healthz").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert "Permissions-Policy" in headers


@pytest.mark.django_db
def test_readyz__migrated__ready_whatever_the_broker(client: Client) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "ready")


@pytest.mark.django_db
def test_readyz__database_is_away__503(rf: RequestFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> object:
        raise DatabaseError("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr(connection, "cursor", away)
    request: HttpRequest = rf.get("/readyz")
    response = health.readyz(request)
    assert response.status_code == 503
    assert b"10.0.0.7" not in response.content
    assert json.loads(response.content)["database"] == "unreachable"
