"""Which app answers where."""

from django.urls import include, path

from ecm_site import health
from sessions_app.api.branch import BadgeView, BranchBillView
from sessions_app.api.ingest_urls import otlp_urls

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/v1/", include("sessions_app.api.urls")),
    path("api/v1/", include("policy_app.api.urls")),
    path("policy/", include("policy_app.console.urls")),
    path("otlp/", include(otlp_urls)),
    path("b/<path:name>.md", BranchBillView.as_view(), name="branch-bill"),
    path("s/<int:pk>/badge.svg", BadgeView.as_view(), name="session-badge"),
    path("", include("sessions_app.connect.urls")),
    path("", include("sessions_app.entry.urls")),
    path("", include("sessions_app.dashboard.urls")),
]

handler400 = "ecm_site.common.pages.bad_request"
handler403 = "ecm_site.common.pages.forbidden"
handler404 = "ecm_site.common.pages.not_found"
handler500 = "ecm_site.common.pages.server_error"
