"""The doors of gateways and of whoever calls a model itself: raw usage of providers, and LiteLLM's payloads."""

from sessions_app.api.ingest import IngestView
from sessions_app.feeds import litellm, usage_record


class UsageView(IngestView):
    """`POST /api/v1/usage`: providers' own usage objects, each with its session."""

    feed = usage_record.FEED


class LiteLlmView(IngestView):
    """`POST /api/v1/proxy/litellm`: what its generic API callback sends."""

    feed = litellm.FEED
