"""`POST /api/v1/clearings/preview`: what clearing tool results would reclaim, cost and give back."""

from typing import Any

import msgspec
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common.problems import DomainError
from sessions_app.api import shapes
from sessions_app.api.auth import READERS, AnyKey
from sessions_app.api.ledger import decoded
from sessions_app.kernel.breakeven import Choice
from sessions_app.kernel.clearing_preview import Preview, preview
from sessions_app.services.prices import load_price_book

MOST_TOKENS = 1 << 31


class Edited(msgspec.Struct):
    """What the provider's token counting says of the prompt without the edit."""

    original_input_tokens: int


class PreviewBody(msgspec.Struct, kw_only=True):
    """An answer of the provider's token counting, with the model; `suffix_tokens` stand behind the cut, where known."""

    model: str
    input_tokens: int
    context_management: Edited
    suffix_tokens: int | None = None
    ttl: str = "5m"


class ClearingPreviewView(APIView):
    """Any key or login: it says nothing of sessions. Nothing is stored."""

    authentication_classes = READERS
    permission_classes = [AnyKey]
    parser_classes = []

    def post(self, request: Request) -> Response:
        """The choice with its range, and when it is free."""
        body = decoded(request, PreviewBody, "model, input_tokens and context_management.original_input_tokens")
        before = body.context_management.original_input_tokens
        price = load_price_book().price(body.model, timezone.now())
        if price is None:
            raise DomainError("unpriced_model", f"{body.model[:99]} has no price; add one at Prices.", pointer="/model")
        if body.ttl not in ("5m", "1h"):
            raise DomainError("bad_ttl", "ttl is 5m or 1h: how long what is written lives.", pointer="/ttl")
        if before >= MOST_TOKENS:
            raise DomainError("bad_tokens", "That is no number of tokens of one prompt.", pointer="/context_management")
        try:
            found = preview(
                before=before,
                after=body.input_tokens,
                suffix=body.suffix_tokens,
                hourly=body.ttl == "1h",
                rates=price.rates(before),
            )
        except ValueError as error:
            raise DomainError("bad_tokens", f"These counts are not of one prompt: {error}.") from None
        return Response(_told(found))


def _told(found: Preview) -> dict[str, Any]:
    return {
        "reclaims_tokens": found.reclaims,
        "per_call_usd": shapes.usd(found.best.per_call_usd),
        "best": _choice(found.best),
        "worst": _choice(found.worst),
        "cold": _choice(found.cold),
        "advice": _advice(found),
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {"extra_usd": shapes.usd(choice.extra_usd), "pays_back_in_calls": choice.pays_back_in}


def _advice(found: Preview) -> str:
    """In a sentence, with its range."""
    if not found.reclaims:
        return "Nothing would be cleared."
    calls = [choice.pays_back_in for choice in (found.best, found.worst)]
    least, most = ("never" if call is None else str(call) for call in calls)
    span = least if least == most else f"{least} to {most}, depending on how much stands behind the cut"
    return f"Warm, it is back after {span} later calls; when the cache is cold anyway, clearing is free."
