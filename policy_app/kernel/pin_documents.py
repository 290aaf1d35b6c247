"""A pin set as a JSON document and back, and what changed from one to another. Unknown fields are refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from policy_app.kernel.canonical import digest
from policy_app.kernel.errors import Refused, UnknownName
from policy_app.kernel.fields import list_of, object_of
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.pins import LIMIT_CHARS, Pin, PinSet, fits
from policy_app.kernel.sentences import listed

FORMAT = "ecm-pins/1"
_PIN = ("id", "text", "why", "tier", "source")


@dataclass(frozen=True, slots=True)
class PinAdded:
    """A pin that was not there."""

    pin: Pin


@dataclass(frozen=True, slots=True)
class PinRemoved:
    """A pin that is not there any more."""

    pin: Pin


@dataclass(frozen=True, slots=True)
class PinChanged:
    """A pin that says something else under the same id."""

    was: Pin
    now: Pin


@dataclass(frozen=True, slots=True)
class PinsReordered:
    """All ids in their order afterwards."""

    was: tuple[str, ...]
    now: tuple[str, ...]


type PinChange = PinAdded | PinRemoved | PinChanged | PinsReordered


def pin_document(pin: Pin) -> dict[str, object]:
    """A pin as JSON values."""
    return {"id": pin.id, "text": pin.text, "why": pin.why, "tier": str(pin.tier), "source": str(pin.source)}


def set_document(pin_set: PinSet) -> dict[str, object]:
    """The whole set as JSON values."""
    return {"format": FORMAT, "pins": [pin_document(pin) for pin in pin_set.pins]}


def identity(pin_set: PinSet) -> str:
    """The SHA-256 of the canonical document: equal sets, equal identity."""
    return digest(set_document(pin_set))


def set_of(raw: object) -> PinSet:
    """The set that a document holds. Raises the refusals of `errors`, with the path of the field."""
    document = object_of("pins", raw, ("format", "pins"))
    if document.get("format", FORMAT) != FORMAT:
        raise UnknownName("format", document["format"], f"must be {FORMAT}")
    return PinSet(
        tuple(pin_of(each, f"pins[{index}]") for index, each in enumerate(list_of("pins", document.get("pins"))))
    )


def pin_of(raw: object, field: str) -> Pin:
    """The pin that a document holds; `field` is where it stands."""
    document: dict[str, Any] = dict(object_of(field, raw, _PIN))
    document = {"id": None, "text": "", "why": "", **document}
    try:
        return Pin(**document)
    except Refused as error:
        error.args = (f"{field}.{error}",)
        error.field = f"{field}.{error.field}"
        raise


def set_findings(pin_set: PinSet) -> tuple[Finding, ...]:
    """What speaks against publishing a set."""
    found = []
    if not fits(pin_set):
        told = f"What would be injected is longer than the {LIMIT_CHARS:,} characters that a host takes."
        found.append(Finding("pins_too_long", Severity.BLOCKS, "", told))
    if not pin_set.pins:
        found.append(Finding("no_pins", Severity.WARNS, "", "Without pins, nothing comes back after a compaction."))
    return tuple(found)


def set_difference(was: PinSet, now: PinSet) -> tuple[PinChange, ...]:
    """The changes that make `now` of `was`; none between equal sets."""
    old, new = {pin.id: pin for pin in was.pins}, {pin.id: pin for pin in now.pins}
    changes: list[PinChange] = [PinRemoved(pin) for name, pin in old.items() if name not in new]
    changes += [PinAdded(pin) for name, pin in new.items() if name not in old]
    changes += [PinChanged(old[name], pin) for name, pin in new.items() if name in old and old[name] != pin]
    natural = [*(name for name in old if name in new), *(name for name in new if name not in old)]
    if natural != list(new):
        changes.append(PinsReordered(tuple(old), tuple(new)))
    return tuple(changes)


def set_applied(pin_set: PinSet, changes: Sequence[PinChange]) -> PinSet:
    """The set after the changes of a difference that began with it."""
    pins = {pin.id: pin for pin in pin_set.pins}
    for change in changes:
        match change:
            case PinRemoved(pin):
                del pins[pin.id]
            case PinAdded(pin) | PinChanged(_, pin):
                pins[pin.id] = pin
            case PinsReordered(_, now):
                pins = {name: pins[name] for name in now}
    return PinSet(tuple(pins.values()))


def pin_sentence(change: PinChange) -> str:
    """The change in words."""
    match change:
        case PinAdded(pin):
            return f"Pin {pin.id} is new ({pin.tier}): “{pin.text}”"
        case PinRemoved(pin):
            return f"Pin {pin.id} is gone: “{pin.text}”"
        case PinChanged(was, now):
            return f"Pin {now.id}: {'; '.join(_parts(was, now))}"
        case PinsReordered(_, now):
            return f"The order of the pins is {listed(now, 'and')}."


def _parts(was: Pin, now: Pin) -> list[str]:
    parts = []
    if was.text != now.text:
        parts.append(f"“{was.text}” becomes “{now.text}”")
    if was.why != now.why:
        parts.append(f"another reason: “{now.why}”")
    if was.tier != now.tier:
        parts.append(f"{was.tier} becomes {now.tier}")
    if was.source != now.source:
        parts.append(f"its text comes from the {now.source}")
    return parts
