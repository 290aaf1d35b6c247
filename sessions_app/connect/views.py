"""The client as a file: what `make connect` installs can be fetched from any server."""

from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

CLIENT = Path(__file__).with_name("ecm")
OPENCODE = Path(__file__).with_name("opencode") / "ecm.js"


@require_safe
def client(_request: HttpRequest) -> HttpResponse:
    """`GET /connect/ecm`: the one file; it holds no secret."""
    answer = HttpResponse(CLIENT.read_bytes(), content_type="text/x-python; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="ecm"'
    return answer


@require_safe
def opencode_plugin(_request: HttpRequest) -> HttpResponse:
    """`GET /connect/opencode/ecm.js`: the plugin of OpenCode; it holds no secret and no address."""
    return HttpResponse(OPENCODE.read_bytes(), content_type="text/javascript; charset=utf-8")
