"""`manage.py import_usage FILE…`: bring in a usage export of Cursor (CSV), numbers only."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from sessions_app.feeds.base import Refused
from sessions_app.models import Team
from sessions_app.services import usage_exports
from sessions_app.services.ingest import Sender


class Command(BaseCommand):
    help = "Import usage exports of Cursor: CSV files from its dashboard. A file may be imported twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path)
        parser.add_argument("--team", default="default", help="slug of the team that gets them")

    def handle(self, *args: Any, paths: list[Path], team: str, **options: Any) -> None:
        found = Team.objects.filter(slug=team).first()
        if found is None:
            raise CommandError(f"No team '{team}'. Name an existing team with --team.")
        for path in paths:
            try:
                told = usage_exports.receive(sender=Sender(found.pk), body=path.read_bytes(), now=timezone.now())
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}") from error
            except Refused as refused:
                raise CommandError(f"{path}: {refused.message}") from refused
            self._tell(path, told)

    def _tell(self, path: Path, told: usage_exports.Told) -> None:
        receipt = told.receipt
        reported = Decimal(told.reported_nanousd).scaleb(-9)
        self.stdout.write(
            f"{path.name}: {receipt.accepted:,} requests new, {receipt.duplicate:,} known, "
            f"{len(receipt.refused):,} refused; ${reported:.2f} reported, {told.without_cost:,} without a number."
        )
        self.stdout.write("Rows of an export name no session: they are held by day.")
        for refusal in receipt.refused[:20]:
            self.stdout.write(f"  line {refusal.position}{refusal.pointer}: {refusal.message}")
