"""The site as an app: its static files and its checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Loads Celery with Django, so that every process enqueues on the configured broker."""

    name = "ecm_site"

    def ready(self) -> None:
        from ecm_site import celery, checks

        celery.app.set_default()
        checks.register()
