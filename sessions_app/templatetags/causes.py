"""Causes of misses in templates."""

from decimal import Decimal

from django import template

from ecm_site.common import figures
from sessions_app.dashboard import cause_words, words

register = template.Library()


@register.filter
def cause_name(cause: str) -> str:
    """A cause as the head of a row."""
    return cause_words.name(cause)


@register.filter
def cause_fix(cause: str) -> str:
    """What to do about it on any host."""
    return cause_words.fix(cause)


@register.filter
def rate(price: Decimal | None) -> str:
    """USD per million tokens, as short as it is exact; a dash where there is no such charge."""
    return "–" if price is None else figures.usd_exact(price)


@register.filter
def part_name(part: str) -> str:
    """A part of the bill in words."""
    return {"expected": "rebuild, expected", "avoidable": "avoidable", "unexplained": "not explained"}.get(part, part)


@register.filter
def host_name(host: str) -> str:
    """A host as it calls itself."""
    return words.word(words.HOSTS, host)
