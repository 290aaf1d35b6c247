"""What the kernel asks of a price book."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from sessions_app.kernel.facts import Leaves


@dataclass(frozen=True, slots=True)
class Charge:
    """What a call costs at list price, what it would cost without a cache, and by which row."""

    cost_usd: Decimal
    no_cache_cost_usd: Decimal
    price_id: int | None


class Prices(Protocol):
    """What the fold asks of a price book."""

    def window(self, model: str) -> int | None:
        """The window that the model is known for."""

    def charge(
        self,
        model: str,
        at: datetime,
        leaves: Leaves,
        *,
        ended: datetime | None = None,
        fast: bool = False,
        web_searches: int = 0,
    ) -> Charge | None:
        """The price of one call; None when the model has no price at that time."""
