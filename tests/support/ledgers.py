"""The ledger of a folded session in memory, for tests of the kernel."""

from sessions_app.kernel.calls_sent import Sent, sent
from sessions_app.kernel.facts import SessionFold
from sessions_app.kernel.misses import Explained, explain
from sessions_app.kernel.pricing import PriceBook


def sent_calls(outcome: SessionFold, book: PriceBook) -> list[Sent]:
    """The calls of a session as the ledger takes them."""
    return [sent(call, book.price(call.model, call.started_at)) for call in outcome.calls]


def explained(outcome: SessionFold, book: PriceBook) -> dict[str, Explained]:
    """The bill of each call."""
    return explain(sent_calls(outcome, book))
