"""Numbers of a table as people read them, and what they are called. Pure."""

from decimal import Decimal

from policy_app.kernel.numbers import plain


def subject_words(subject: str) -> str:
    """What a dotted path is called: `zones.red` is RED."""
    kind, _, rest = subject.partition(".")
    return rest.upper() if kind == "zones" else rest.replace("_", " ").replace(".", ", ")


def shown_number(subject: str, raw: str) -> str:
    """A number of a table as people read it; conditions, and what an argument says that is no number, as they are."""
    if not (raw.isascii() and raw.replace(".", "", 1).isdigit()):
        return raw
    if subject.startswith("zones.") or subject.endswith("_share_prune"):
        return f"{plain(Decimal(raw) * 100)}%"
    return f"{int(raw):,}" if raw.isdigit() else raw
