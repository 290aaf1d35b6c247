"""Addresses below /api/v1/."""

from django.urls import path

from sessions_app.api import keys, read
from sessions_app.api.ingest_urls import api_urls

urlpatterns = [
    path("lag", read.LagView.as_view(), name="api-lag"),
    path("sessions", read.SessionsView.as_view(), name="api-sessions"),
    path("sessions/<int:session_id>", read.SessionView.as_view(), name="api-session"),
    path("totals", read.TotalsView.as_view(), name="api-totals"),
    path("keys", keys.KeysView.as_view(), name="api-keys"),
    *api_urls,
]
