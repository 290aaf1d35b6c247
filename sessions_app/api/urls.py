"""Addresses below /api/v1/."""

from django.urls import path

from sessions_app.api import clearings, keys, ledger, pins, read, verdicts
from sessions_app.api.ingest_urls import api_urls

urlpatterns = [
    path("lag", read.LagView.as_view(), name="api-lag"),
    path("sessions", read.SessionsView.as_view(), name="api-sessions"),
    path("sessions/<int:session_id>", read.SessionView.as_view(), name="api-session"),
    path("sessions/<int:session_id>/verdicts", verdicts.SessionVerdictsView.as_view(), name="api-session-verdicts"),
    path("sessions/<int:session_id>/mute", verdicts.MuteView.as_view(), name="api-session-mute"),
    path("verdicts/<slug:public_id>", verdicts.VerdictView.as_view(), name="api-verdict"),
    path("totals", read.TotalsView.as_view(), name="api-totals"),
    path("prices", ledger.PricesView.as_view(), name="api-prices"),
    path("clearings/preview", clearings.ClearingPreviewView.as_view(), name="api-clearings-preview"),
    path("markers", ledger.MarkersView.as_view(), name="api-markers"),
    path("keys", keys.KeysView.as_view(), name="api-keys"),
    path("pins", pins.SuppliedPinsView.as_view(), name="api-pins"),
    path("pins/live", pins.LivePinsView.as_view(), name="api-pins-live"),
    path("policies/live", pins.LivePolicyView.as_view(), name="api-policies-live"),
    *api_urls,
]
