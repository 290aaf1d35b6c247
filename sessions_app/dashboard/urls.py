"""Addresses of the pages, included at the root."""

from django.urls import path

from sessions_app.dashboard import views

urlpatterns = [
    path("", views.show_overview, name="overview"),
    path("sessions/", views.list_sessions, name="sessions"),
    path("sessions/<int:pk>/", views.show_session, name="session"),
    path("s/<int:pk>", views.short_link, name="session-short"),
    path("theme/", views.choose_theme, name="theme"),
]
