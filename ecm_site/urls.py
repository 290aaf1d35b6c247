"""Which app answers where."""

from django.urls import path

from ecm_site import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]

handler400 = "ecm_site.common.pages.bad_request"
handler403 = "ecm_site.common.pages.forbidden"
handler404 = "ecm_site.common.pages.not_found"
handler500 = "ecm_site.common.pages.server_error"
