"""A table as boxes over the axes of the signals that its rules test."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from policy_app.kernel.boxes import Box
from policy_app.kernel.cells import Axis, Span, axis_of, is_inclusive_from, is_inclusive_to
from policy_app.kernel.conditions import Condition, InRange, OneOf, at_least
from policy_app.kernel.signals import ORDER, Signals, Special, Value, value_document
from policy_app.kernel.situation import impossible
from policy_app.kernel.table import Table
from policy_app.kernel.window_law import TIED, Reading, is_tied, reading_in
from policy_app.kernel.zones import WorkingWindow, ZoneTable, working_window


@dataclass(frozen=True, slots=True)
class Region:
    """The values of one box, signal by signal; signals that it does not narrow are left out."""

    parts: tuple["Part", ...]

    def document(self) -> dict[str, object]:
        """The region as JSON values, by signal."""
        return {part.signal: part.document() for part in self.parts}


@dataclass(frozen=True, slots=True)
class Part:
    """What a region holds of one signal: spans of numbers, names, and special values."""

    signal: str
    spans: tuple[Span, ...]
    names: tuple[Value, ...]
    specials: frozenset[Special]

    def document(self) -> list[object]:
        """Spans as `{from, from_inclusive, to, to_inclusive}` (`to` null has no end), then names, then specials."""
        return [
            *(span_document(span) for span in self.spans),
            *(value_document(name) for name in self.names),
            *sorted(special.value for special in self.specials),
        ]


def span_document(span: Span) -> dict[str, object]:
    """A span of numbers as JSON values."""
    return {
        "from": value_document(span.low[0]),
        "from_inclusive": is_inclusive_from(span),
        "to": None if span.high is None else value_document(span.high[0]),
        "to_inclusive": is_inclusive_to(span),
    }


@dataclass(frozen=True, slots=True)
class Witness:
    """One situation, by the signals that matter; the others may be anything."""

    values: Mapping[str, Value]

    def signals(self) -> Signals:
        """The situation as signals, to be evaluated."""
        return Signals(self.values)

    def document(self) -> dict[str, object]:
        """The situation as JSON values."""
        return {name: value_document(value) for name, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Space:
    """Axes, one box per rule in order, and the boxes of what can never be.

    `windows` are the working windows where they tie signals that the rules test, else none.
    """

    axes: tuple[Axis, ...]
    ids: tuple[str, ...]
    boxes: tuple[Box, ...]
    impossible: tuple[Box, ...]
    windows: tuple[WorkingWindow, ...] = ()

    @property
    def whole(self) -> Box:
        """Every situation."""
        return tuple(axis.full for axis in self.axes)

    def box_of(self, conditions: Iterable[Condition]) -> Box:
        """The situations in which all the conditions hold; an axis without cells where two exclude each other.

        Conditions must be among those that the space was made with.
        """
        by_signal: dict[str, int] = {}
        for condition in conditions:
            axis = next(axis for axis in self.axes if axis.signal.name == condition.signal)
            by_signal[condition.signal] = by_signal.get(condition.signal, axis.full) & axis.cells_of(condition)
        return tuple(by_signal.get(axis.signal.name, axis.full) for axis in self.axes)

    def witness(self, box: Box) -> Witness:
        """A situation in the box; signals on which no rule looks are left out.

        The box must lie outside of what can never be: then its values may be chosen one by one.
        """
        values = {axis.signal.name: axis.value_in(mask) for axis, mask in zip(self.axes, box, strict=True)}
        reading = self._reading(values, box)
        if reading is not None:
            values |= {"context_tokens": reading.tokens, "window_tokens": reading.window, "utilization": reading.share}
        return Witness(MappingProxyType(values))

    def _reading(self, values: Mapping[str, Value], box: Box) -> Reading | None:
        """Tokens and window of the witness where a working window ties them."""
        model = values.get("model")
        working = working_window(self.windows, model) if isinstance(model, str) else None
        if working is None:
            return None
        spans = {axis.signal.name: axis.span_in(mask) for axis, mask in zip(self.axes, box, strict=True)}
        tokens, share = spans["context_tokens"], spans["utilization"]
        return None if tokens is None or share is None else reading_in(tokens, share, working)

    def region(self, box: Box) -> Region:
        """The values of the box."""
        return Region(
            tuple(
                Part(axis.signal.name, tuple(axis.runs_in(mask)), axis.names_in(mask), axis.specials_in(mask))
                for axis, mask in zip(self.axes, box, strict=True)
                if mask != axis.full
            )
        )


def space_of(table: Table, probes: Sequence[Condition] = ()) -> Space:
    """The space of the rules that are switched on, cut finely enough for `probes` as well."""
    rules = table.live_rules
    conditions = [*(condition for rule in rules for condition in rule.when), *probes]
    tested = {condition.signal for condition in conditions}
    windows = table.working_windows if is_tied(tested) else ()
    conditions += _unspoken(tested, windows)
    tested = {condition.signal for condition in conditions}
    apart = [pair for pair in impossible(table) if tested.issuperset(each.signal for each in pair)]
    axes = _axes([*conditions, *(each for pair in apart for each in pair)])
    bare = Space(axes, (), (), ())
    return Space(
        axes,
        tuple(rule.id for rule in rules),
        tuple(bare.box_of(rule.when) for rule in rules),
        (*(bare.box_of(pair) for pair in apart), *_beyond_windows(axes, windows)),
        windows,
    )


def _unspoken(tested: set[str], windows: Sequence[WorkingWindow]) -> list[Condition]:
    """Conditions on signals that no rule tests, and without which a situation could not be told whole."""
    found: list[Condition] = []
    if "calls_since_compaction" in tested:
        found.append(at_least("depth", 1))
    if windows:
        found += [OneOf("model", (window.pattern.text,)) for window in windows]
        found += [InRange("utilization"), OneOf("zone", ("GREEN",))]
    return found


def _beyond_windows(axes: Sequence[Axis], windows: Sequence[WorkingWindow]) -> list[Box]:
    """The boxes of tokens and shares that no window up to the model's working window gives."""
    if not windows:
        return []
    by_name = {axis.signal.name: axis for axis in axes if axis.signal.name in TIED}
    zone, share, tokens, model = (by_name[name] for name in ("zone", "utilization", "context_tokens", "model"))
    known_tokens = (1 << len(tokens.spans)) - 1
    unknown_share = 1 << len(share.spans)
    found = []
    for working, models in _models_by_window(model, windows).items():
        told = {"model": models, "context_tokens": known_tokens, "utilization": unknown_share}
        found.append({**told, "zone": (1 << len(zone.values)) - 1})
        for index, span in enumerate(share.spans):
            missed = sum(1 << n for n, each in enumerate(tokens.spans) if reading_in(each, span, working) is None)
            found.append({"model": models, "context_tokens": missed, "utilization": 1 << index})
    return [tuple(box.get(axis.signal.name, axis.full) for axis in axes) for box in found if all(box.values())]


def _models_by_window(model: Axis, windows: Sequence[WorkingWindow]) -> dict[int, int]:
    """Working window -> the cells of the models that have it."""
    found: dict[int, int] = {}
    for index, name in enumerate(model.values):
        working = working_window(windows, name) if isinstance(name, str) else None
        if working is not None:
            found[working] = found.get(working, 0) | 1 << index
    return found


def zone_space_of(table: ZoneTable) -> Space:
    """The space of a zone table: known shares of the window, from 0 on without an end."""
    known = InRange("utilization")
    axes = _axes([*(row.span for row in table.rows), known])
    bare = Space(axes, (), (), ())
    (whole,), (known_cells,) = bare.whole, bare.box_of((known,))
    boxes = tuple((axes[0].cells_of(row.span) & known_cells,) for row in table.rows)
    return Space(axes, tuple(row.id for row in table.rows), boxes, ((whole & ~known_cells,),))


def _axes(conditions: Sequence[Condition]) -> tuple[Axis, ...]:
    names = sorted({condition.signal for condition in conditions}, key=ORDER.__getitem__)
    return tuple(axis_of(name, conditions) for name in names)
