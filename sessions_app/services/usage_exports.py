"""Usage exports of hosts that keep nothing on the machine: a file of rows, brought in by hand."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.feeds import cursor_csv
from sessions_app.feeds.base import Context
from sessions_app.services import ingest
from sessions_app.services.ingest import Receipt, Sender


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a file: the receipt, the cost that its rows report (nano-dollars), rows that report none."""

    receipt: Receipt
    reported_nanousd: int
    without_cost: int


def receive(*, sender: Sender, body: bytes, now: datetime) -> Told:
    """Store one export of Cursor. Raises Refused `unknown_columns`, `not_csv`."""
    context = Context(received_ms=int(now.timestamp() * 1000))
    parsed = cursor_csv.parse(body, context)
    costs = [cursor_csv.reported_cost(item.husk) for item in parsed.items]
    receipt = ingest.receive(sender=sender, feed=cursor_csv.FEED, body=body, context=context, now=now)
    return Told(receipt, sum(cost or 0 for cost in costs), costs.count(None))
