"""Addresses of the pages, included at `policy/`."""

from django.urls import path

from policy_app.console import views

urlpatterns = [
    path("", views.show_policies, name="policies"),
    path("audit/", views.show_audit, name="policy-audit"),
    path("<slug:slug>/", views.show_policy, name="policy"),
    path("<slug:slug>/history", views.show_history, name="policy-history"),
]
