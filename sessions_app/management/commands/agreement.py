"""How our causes of cache misses agree with what the provider said."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ecm_site.common import clock
from sessions_app.kernel.agreement import report
from sessions_app.kernel.pricing import PriceBook
from sessions_app.models import Session
from sessions_app.services import agreeing, price_seed

#: Of the calls that our rules name, so many in a hundred must bear the provider's cause.
LEAST_PRECISION = 90


class Command(BaseCommand):
    """`manage.py agreement [PATH ...]`: transcripts in these places, else what the database holds."""

    help = "Compare causes of cache misses with the provider's own word. Exit 1 below 90% precision."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Files, folders or archives of transcripts."""
        parser.add_argument("paths", nargs="*", type=Path)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the comparison."""
        paths: list[Path] = options["paths"]
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            raise CommandError(f"not there: {', '.join(missing)}")
        if paths:
            found = agreeing.of_files(paths, PriceBook(price_seed.offer().prices), clock.now())
        else:
            found = agreeing.of_sessions(Session.objects.filter(team__is_demo=False))
        self.stdout.write(report(found))
        if found.right * 100 < found.named * LEAST_PRECISION:
            raise CommandError(f"precision is below {LEAST_PRECISION}%")
