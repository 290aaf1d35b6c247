"""`manage.py replay_verdicts [--session ID]`: derive every stored verdict again; 1 where one comes out otherwise."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sessions_app.models import Verdict
from sessions_app.services import verdicts

#: Named at most so many that differ.
MOST_NAMED = 20


class Command(BaseCommand):
    """Replay verdicts."""

    help = "Derive every stored verdict again from its own version and signals."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("--session", type=int, help="only those of this session, by its row id")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say how many came out equal, and name those that did not."""
        rows = Verdict.objects.select_related("version").order_by("pk")
        if options["session"] is not None:
            rows = rows.filter(session=options["session"])
        total, differing = 0, list[str]()
        for row in rows.iterator(chunk_size=1_000):
            total += 1
            again = verdicts.rederive(row)
            if not again.is_equal:
                differing.append(f"{row.public_id}: {', '.join(again.differing)}")
        for line in differing[:MOST_NAMED]:
            print(f"  {line}")
        print(f"{total - len(differing):,} of {total:,} verdicts come out equal.")
        if differing:
            sys.exit(1)
