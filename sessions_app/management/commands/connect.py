"""`make connect`: run the client with the address and the ingest key of the server of this machine."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sessions_app.connect.views import CLIENT


class Command(BaseCommand):
    help = "Connect the Claude Code of this machine: shows the change to your own settings, asks, and waits."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--http", action="store_true", help="no client in the path: hooks post whole bodies")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, http: bool, yes: bool, **options: Any) -> None:
        key = os.environ.get("ECM_INGEST_KEY") or key_of(Path(os.environ.get("ECM_DATA") or "var"))
        if not key:
            raise CommandError("No ingest key. Run make up once (it writes first-run.txt), or set ECM_INGEST_KEY.")
        flags = [name for name, given in (("--http", http), ("--yes", yes)) if given]
        arguments = [sys.executable, str(CLIENT), "connect", "--url", settings.PUBLIC_URL, *flags]
        # The client takes over: it talks with the terminal and ends by itself. Arguments can be read by others.
        os.execve(sys.executable, arguments, {**os.environ, "ECM_KEY": key})  # noqa: S606 - our own file


def key_of(data: Path) -> str:
    """The ingest key that `make up` wrote for its owner."""
    try:
        lines = (data / "first-run.txt").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition("=")[2] for line in lines if line.startswith("ECM_INGEST_KEY=")), "")
