"""What a machine fetches to be connected."""

from django.urls import path

from sessions_app.connect import views

urlpatterns = [
    path("connect/ecm", views.client, name="connect-ecm"),
    path("connect/opencode/ecm.js", views.opencode_plugin, name="connect-opencode"),
]
