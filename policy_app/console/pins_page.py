"""One pin set as it is in force, and what a content does to a session: its size, and the texts exactly as injected."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from policy_app.console.places import Places, places_of
from policy_app.console.policy_pages import PolicyLine, policy_line
from policy_app.kernel.pins import LIMIT_CHARS, TOKENS_ORIGIN, Pin, PinSet, Source, chars, rendered, tokens
from policy_app.models import Draft, Policy, PolicyKind, Version
from policy_app.services import blaming, contents
from policy_app.services.actors import Actor
from policy_app.services.blaming import Blame
from policy_app.services.inforce import DEFAULT_SLUG
from policy_app.services.pinning import name_of

#: In this many tokens of new text after every compaction a reader is told to think twice.
MUCH_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class Size:
    """Of what is injected: characters against the host's limit, and tokens with their origin."""

    chars: int
    limit: int
    tokens: int
    origin: str
    is_over: bool
    is_much: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What a host would be handed, word for word."""

    size: Size
    restore_text: str
    before_text: str


@dataclass(frozen=True, slots=True)
class PinLine:
    """A pin with its size, since when it reads so, and whether the organisation's set says it already."""

    pin: Pin
    tokens: int
    is_open: bool
    blame: Blame | None
    is_base: bool


@dataclass(frozen=True, slots=True)
class PinSetPage:
    """One set; without pins before its first version."""

    now: datetime
    actor: Actor
    line: PolicyLine
    places: Places
    pins: tuple[PinLine, ...]
    preview: Preview | None


def pin_set_page(policy: Policy, actor: Actor, now: datetime) -> PinSetPage:
    """One pin set as it is in force."""
    line = policy_line(policy, now)
    pins: tuple[PinLine, ...] = ()
    preview = None
    if line.live is not None:
        held = contents.pin_set(line.live.content)
        since = {each.rule: each for each in blaming.blame(policy=policy)}
        pins = pin_lines(held, policy, since)
        preview = preview_of(held, policy.slug, line.live.number)
    return PinSetPage(now, actor, line, places_of(policy), pins, preview)


def pin_lines(held: PinSet, policy: Policy, since: Mapping[str, Blame]) -> tuple[PinLine, ...]:
    """The pins of a set, in order."""
    base = base_ids(policy)
    return tuple(
        PinLine(
            pin=pin,
            tokens=tokens(pin.text),
            is_open=pin.source is Source.CLIENT,
            blame=since.get(pin.id),
            is_base=pin.id in base,
        )
        for pin in held.pins
    )


def base_ids(policy: Policy) -> frozenset[str]:
    """Ids that the default set says; another set's pin of that name is never heard beside it."""
    if policy.slug == DEFAULT_SLUG:
        return frozenset()
    newest = Version.objects.filter(
        policy__organisation_id=policy.organisation_id, policy__kind=PolicyKind.PINS, policy__slug=DEFAULT_SLUG
    ).order_by("-number")
    base = newest.first()
    return frozenset(pin.id for pin in contents.pin_set(base.content).pins) if base else frozenset()


def draft_preview(draft: Draft) -> Preview | None:
    """What the draft would make a host hear as the next version; None where it holds no pins."""
    if draft.policy.kind != PolicyKind.PINS:
        return None
    return preview_of(contents.pin_set(draft.content), draft.policy.slug, draft.base.number + 1 if draft.base else 1)


def preview_of(held: PinSet, slug: str, number: int) -> Preview:
    """What a set by itself makes a host hear."""
    told = rendered(name_of([(slug, number)]), [held])
    length = chars(told.restore_text)
    cost = tokens(told.restore_text)
    size = Size(length, LIMIT_CHARS, cost, TOKENS_ORIGIN, length > LIMIT_CHARS, cost > MUCH_TOKENS)
    return Preview(size, told.restore_text, told.before_text)
