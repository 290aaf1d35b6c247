"""Fill the price book from the installed price package."""

from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.services import price_seed, prices


class Command(BaseCommand):
    """`manage.py seed_prices`: adds what is missing and says what differs; never overwrites."""

    help = "Add missing price rows from the installed genai-prices and model-prices data (no network)."

    def handle(self, *_args: Any, **options: Any) -> None:
        """Seed and report."""
        offer = price_seed.offer()
        for rows, source in offer.by_source:
            seeded = prices.seed(prices=rows, source=source)
            self.stdout.write(f"{seeded.added} price rows added, {seeded.unchanged} already there ({source})")
            for told in seeded.differing:
                self.stdout.write(f"  kept as it is: {told}")
        for told in offer.disagreements:
            self.stdout.write(f"  sources disagree: {told}")
        if int(options["verbosity"]) > 1:
            for reason in offer.left_out:
                self.stdout.write(f"  left out: {reason}")
