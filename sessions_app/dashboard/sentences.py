"""Sentences whose numbers are links: the first thing on every page. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from ecm_site.common import figures


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a sentence: plain text, or a figure with its exact `value` and the place of its parts."""

    text: str
    href: str = ""
    value: str = ""


type Sentence = tuple[Piece, ...]


def say(*parts: str | Piece) -> Sentence:
    """A sentence of plain words and figures."""
    return tuple(part if isinstance(part, Piece) else Piece(part) for part in parts)


def money(amount: Decimal | None, href: str = "") -> Piece:
    """Dollars as a figure."""
    return Piece(figures.usd(amount), href, figures.usd_exact(amount))


def count(number: int, one: str, many: str = "", href: str = "") -> Piece:
    """A count with its noun as a figure."""
    return Piece(figures.plural(number, one, many), href, str(number))


def plain(sentence: Iterable[Piece]) -> str:
    """The words alone."""
    return "".join(piece.text for piece in sentence)
