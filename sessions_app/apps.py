"""What happened: sessions, calls, compactions, costs."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Registers the app under its package name."""

    name = "sessions_app"
    verbose_name = "Sessions"
