"""The site's Celery with one task that leaves a file; run as a module it enqueues that task."""

import os
import sys
from pathlib import Path

import django

from ecm_site.celery import app

django.setup()


@app.task(name="tests.support.touch")
def touch(name: str) -> None:
    """Leave a file in the data folder."""
    Path(os.environ["ECM_DATA"], name).touch()


if __name__ == "__main__":
    from ecm_site.common.enqueue import send

    sys.exit(0 if send("tests.support.touch", "ran") else 1)
