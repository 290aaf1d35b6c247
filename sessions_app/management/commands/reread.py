"""`manage.py reread [--feed NAME]`: run the present feeds over everything in the vault."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from sessions_app.models import VaultRecord
from sessions_app.services import folding, rereading


class Command(BaseCommand):
    help = "Read the vault again with the present feeds and fold what changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--feed", help="only records of this feed")

    def handle(self, *args: Any, feed: str | None = None, **options: Any) -> None:
        records = VaultRecord.objects.order_by("pk")
        if feed:
            records = records.filter(feed=feed)
        read = changed = refused = 0
        for record in records.iterator(chunk_size=50):
            receipt = rereading.reread(record=record, now=timezone.now())
            read += record.records
            changed += receipt.accepted
            refused += len(receipt.refused)
        folding.fold_all(folding.dirty_ids(limit=1_000_000), timezone.now())
        self.stdout.write(f"{read} records read again, {changed} told something new, {refused} refused")
