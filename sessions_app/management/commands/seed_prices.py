"""Fill the price book from the installed price package."""

from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.services import price_seed, prices


class Command(BaseCommand):
    """`manage.py seed_prices`: adds what is missing and says what differs; never overwrites."""

    help = "Add missing price rows from the installed genai-prices data (no network)."

    def handle(self, *_args: Any, **options: Any) -> None:
        """Seed and report."""
        offer = price_seed.offer()
        seeded = prices.seed(prices=offer.prices, source=price_seed.SOURCE)
        self.stdout.write(f"{seeded.added} price rows added, {seeded.unchanged} already there ({price_seed.SOURCE})")
        for name in seeded.differing:
            self.stdout.write(f"  kept as it is, the package says otherwise: {name}")
        if int(options["verbosity"]) > 1:
            for reason in offer.left_out:
                self.stdout.write(f"  left out: {reason}")
