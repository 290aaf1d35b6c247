"""Figures in templates: every number keeps its exact value beside the short one, and blind is unlike zero."""

from datetime import UTC, date, datetime
from decimal import Decimal

from django import template
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ecm_site.common import figures

register = template.Library()
THEMES = ("light", "dark")


def _unknown(reason: str) -> SafeString:
    return format_html(
        '<span class="unknown" title="{}"><span aria-hidden="true">?</span>'
        '<span class="for-readers">unknown</span></span>',
        reason,
    )


def _data(value: object, text: str, title: str) -> SafeString:
    return format_html('<data value="{}" title="{}">{}</data>', value, title, text)


@register.simple_tag
def unknown(reason: str = "not known") -> SafeString:
    """The mark of what is not known; the reason is its title."""
    return _unknown(reason)


@register.filter
def usd(amount: Decimal | None) -> SafeString:
    """Dollars for reading, the exact amount in value and title."""
    if amount is None:
        return _unknown("no price is known")
    return _data(figures.usd_exact(amount), figures.usd(amount), f"exactly ${figures.usd_exact(amount)}")


@register.filter
def ledger_usd(amount: Decimal | None) -> SafeString:
    """Dollars for adding up, with six decimals."""
    if amount is None:
        return _unknown("no price is known")
    exact = figures.usd_exact(amount)
    return _data(exact, figures.usd_ledger(amount), f"exactly ${exact}")


@register.filter
def tokens(count: int | None) -> SafeString:
    """A count with its digits grouped."""
    if count is None:
        return _unknown("no source said")
    return format_html('<data value="{}">{}</data>', count, figures.tokens(count))


@register.filter
def short_tokens(count: int | None) -> SafeString:
    """A count for a narrow place; the whole number is its title."""
    if count is None:
        return _unknown("no source said")
    return _data(count, figures.tokens_short(count), f"{count:,} tokens")


@register.filter
def permille(share: int | None) -> SafeString:
    """A share in thousandths, as percent with one decimal."""
    if share is None:
        return _unknown("no source said")
    return _data(share, figures.percent(share, 1_000), f"{share} of 1,000")


@register.filter
def estimate(text: str, reason: str = "estimated") -> SafeString:
    """A figure that rests on an assumption, and on which."""
    return format_html('<span class="estimate" title="{}">~{}</span>', reason, text)


@register.filter
def auxiliary(count: int) -> SafeString:
    """Calls beside those of the conversation."""
    return format_html('<span class="note" title="{} of the host’s own, such as summaries">+{}</span>', count, count)


@register.filter
def counted(count: int, nouns: str) -> str:
    """A count with its noun: `{{ n|counted:"call" }}`, or `"entry,entries"` where the plural is irregular."""
    one, _, many = nouns.partition(",")
    return figures.plural(count, one, many)


@register.filter
def seconds_of(milliseconds: int | None) -> str:
    """A duration in words."""
    return figures.duration(None if milliseconds is None else milliseconds / 1000)


def _time(at: datetime, text: str) -> SafeString:
    at = at.astimezone(UTC)
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), f"{at:%Y-%m-%d %H:%M:%S} UTC", text)


@register.filter
def ago(at: datetime | None, now: datetime) -> SafeString:
    """How long ago, with the moment as title."""
    return _unknown("never") if at is None else _time(at, figures.ago(at, now))


@register.filter
def moment(at: datetime | None, now: datetime) -> SafeString:
    """Date and time (UTC), as short as it may be."""
    return _unknown("no source said") if at is None else _time(at, figures.moment(at, now))


@register.filter
def clock(at: datetime | None) -> SafeString:
    """The time of day with seconds (UTC)."""
    return _unknown("no source said") if at is None else _time(at, f"{at.astimezone(UTC):%H:%M:%S}")


@register.filter
def day_text(on: date, now: datetime) -> str:
    """A day, with its year where that is not the present one."""
    return figures.day(on, now.date())


@register.simple_tag(takes_context=True)
def theme(context: template.Context) -> str:
    """The theme that the reader chose: light, dark, or "" for the system's."""
    request = context.get("request")
    chosen = request.COOKIES.get("ecm_theme", "") if isinstance(request, HttpRequest) else ""
    return chosen if chosen in THEMES else ""


@register.simple_tag(takes_context=True)
def here_again(context: template.Context) -> str:
    """The address of this page, to come back to; "" where it cannot be asked for again."""
    request = context.get("request")
    return request.get_full_path() if isinstance(request, HttpRequest) and request.method == "GET" else ""
