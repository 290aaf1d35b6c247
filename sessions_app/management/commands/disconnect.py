"""`make disconnect`: take the connection of this machine's Claude Code back."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sessions_app.connect.views import CLIENT


class Command(BaseCommand):
    help = "Give the Claude Code settings of this machine back as they were."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        os.execv(sys.executable, [sys.executable, str(CLIENT), "disconnect"])  # noqa: S606 - our own file
