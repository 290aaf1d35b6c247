"""The Celery application; tasks are found in the `tasks` module of each app."""

import os

from celery import Celery
from celery.signals import task_prerun
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ecm_site.settings")

app = Celery("ecm")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()


@task_prerun.connect
def renew_connections(**_: object) -> None:
    """Before a task, as Django does before a request: a connection that the server has closed is opened again."""
    close_old_connections()
