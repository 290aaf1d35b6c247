"""`make demo`: load the demo team; `make demo-drop` removes it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from sessions_app.models import Session
from sessions_app.services import demo, folding


class Command(BaseCommand):
    help = "Load a team of invented sessions to look around in, or drop it again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--drop", action="store_true", help="remove the demo team and all that is in it")

    def handle(self, *args: Any, drop: bool = False, **options: Any) -> None:
        if drop:
            self.stdout.write(f"  Demo team dropped: {demo.drop()} invented sessions are gone")
            return
        team = demo.load(now=timezone.now())
        ids = list(Session.objects.filter(team=team).values_list("pk", flat=True))
        folding.fold_all(ids, timezone.now())
        self.stdout.write(f"  Demo team loaded: {len(ids)} invented sessions, never summed with yours.")
        self.stdout.write("  Drop it any time: make demo-drop")
