"""What a rule may look at: every signal with its type, unit, range and senders; *unknown* and *unset* are values.

*Unknown*: there is such a number, and nobody told it. *Unset*: there is none (no budget was given, nothing was
compacted yet). Neither is zero. Shares are fractions of integers, so that a line of 57% is met at exactly 57%.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction
from types import MappingProxyType

from policy_app.kernel.errors import OutOfRange, UnknownName, WrongType
from policy_app.kernel.names import plain_model, text_of
from policy_app.kernel.numbers import measured_of, whole_of


class Special(Enum):
    """A value that is no number and no name; no text ever equals it."""

    UNKNOWN = "unknown"
    UNSET = "unset"


class Kind(StrEnum):
    """What the values of a signal are."""

    SHARE = "share"
    WHOLE = "whole"
    FLAG = "flag"
    CHOICE = "choice"
    NAME = "name"


#: An integer (whole), a fraction (share), a bool (flag), a text (choice, name), or a special value.
type Value = bool | int | Fraction | str | Special

UNKNOWN = Special.UNKNOWN
UNSET = Special.UNSET

HOSTS = ("claude-code", "codex", "opencode", "copilot", "gemini", "cursor", "litellm", "otlp", "canonical")
_CALLS = ("claude-code", "codex", "opencode", "copilot", "gemini", "litellm", "otlp", "canonical")
_COMPACTIONS = ("claude-code", "codex", "opencode", "copilot", "gemini", "canonical")


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal of the catalogue.

    `label` is its name in sentences; `high` None means no upper end; `absent` is what it reads when it was not
    sent. `measured` is false where it says who asks rather than how the context stands. Signals with `in_rules`
    false are inputs only: what rules test is derived from them.
    """

    name: str
    kind: Kind
    unit: str
    label: str
    says: str
    senders: tuple[str, ...] = ()
    high: int | None = None
    options: tuple[str, ...] = ()
    specials: tuple[Special, ...] = (UNKNOWN,)
    absent: Value = UNKNOWN
    measured: bool = True
    in_rules: bool = True

    @property
    def is_number(self) -> bool:
        """Whether ranges apply to it."""
        return self.kind in (Kind.SHARE, Kind.WHOLE)

    def take(self, raw: object) -> Value:
        """`raw` (JSON, or a value of the kernel) as a value of this signal; None is *unknown*.

        Raises `WrongType`, `OutOfRange`, `NotANumber`, `UnknownName` or `BadText` with the signal as the field.
        """
        special = _special(raw)
        if special is not None:
            if special not in self.specials:
                raise OutOfRange(self.name, special.value, f"is never {special.value}")
            return special
        return _TAKERS[self.kind](self, raw)


def _special(raw: object) -> Special | None:
    if raw is None:
        return UNKNOWN
    if isinstance(raw, Special):
        return raw
    if isinstance(raw, str) and raw.strip().lower() in ("unknown", "unset"):
        return Special(raw.strip().lower())
    return None


def _take_share(signal: Signal, raw: object) -> Value:
    share = measured_of(signal.name, raw)
    if share < 0 or (signal.high is not None and share > signal.high):
        span = "must not be negative" if signal.high is None else f"must be from 0 to {signal.high}"
        raise OutOfRange(signal.name, str(share), span)
    return share


def _take_whole(signal: Signal, raw: object) -> Value:
    if isinstance(raw, Fraction):
        raise WrongType(signal.name, raw, "must be a whole number")
    return whole_of(signal.name, raw, high=signal.high)


def _take_flag(signal: Signal, raw: object) -> Value:
    if not isinstance(raw, bool):
        raise WrongType(signal.name, raw, "must be true or false")
    return raw


def _take_choice(signal: Signal, raw: object) -> Value:
    text = text_of(signal.name, raw, most=40)
    by_lower = {option.lower(): option for option in signal.options}
    if text.lower() not in by_lower:
        raise UnknownName(signal.name, raw, f"must be one of {', '.join(signal.options)}")
    return by_lower[text.lower()]


def _take_name(signal: Signal, raw: object) -> Value:
    return plain_model(text_of(signal.name, raw, most=200))


_TAKERS = {
    Kind.SHARE: _take_share,
    Kind.WHOLE: _take_whole,
    Kind.FLAG: _take_flag,
    Kind.CHOICE: _take_choice,
    Kind.NAME: _take_name,
}

_LIST = (
    Signal("zone", Kind.CHOICE, "", "zone", "how full the context is by this table's own lines", (*_CALLS, "cursor"),
           options=("GREEN", "AMBER", "RED", "CRITICAL")),
    Signal("utilization", Kind.SHARE, "of the window", "context",
           "context tokens of the newest call / the smaller of window and working window", (*_CALLS, "cursor")),
    Signal("context_tokens", Kind.WHOLE, "tokens", "context", "prompt side of the newest call", (*_CALLS, "cursor")),
    Signal("window_tokens", Kind.WHOLE, "tokens", "window", "what the host or the model accepts",
           (*_CALLS, "cursor"), in_rules=False),
    Signal("window_kind", Kind.CHOICE, "", "window", "how the window is known: stated by the host, assumed from the "
           "model, or bounded by a compaction that was seen", (*_CALLS, "cursor"),
           options=("stated", "assumed", "bounded")),
    Signal("behind_calls", Kind.WHOLE, "calls", "calls behind", "calls known to be newer than the reading", _CALLS),
    Signal("depth", Kind.WHOLE, "compactions", "depth", "completed compactions since the lineage started fresh",
           _COMPACTIONS, specials=(), absent=0),
    Signal("tool_result_share", Kind.SHARE, "of the context", "tool results", "tokens of tool results / context tokens",
           ("claude-code", "opencode", "canonical"), high=1),
    Signal("externalize_age_calls", Kind.WHOLE, "calls", "calls since the last checkpoint",
           "calls since exact specifics were written out; unset: never in this session",
           ("claude-code", "opencode", "canonical"), specials=(UNKNOWN, UNSET)),
    Signal("budget_spent_tokens", Kind.WHOLE, "tokens", "spent", "what the session and its subagents have spent",
           _CALLS, specials=(UNKNOWN, UNSET), in_rules=False),
    Signal("budget_ceiling_tokens", Kind.WHOLE, "tokens", "budget", "what they may spend; unset: no budget was given",
           _CALLS, specials=(UNKNOWN, UNSET), absent=UNSET, in_rules=False),
    Signal("budget_spent_ratio", Kind.SHARE, "of the budget", "spent",
           "spent / ceiling; unset without a budget, and for a subagent", _CALLS,
           specials=(UNKNOWN, UNSET), absent=UNSET),
    Signal("cache_expiry_seconds", Kind.WHOLE, "seconds", "seconds to cache expiry",
           "until the provider may drop the prefix; 0: cold", ("claude-code", "copilot", "opencode", "canonical")),
    Signal("cache_cold", Kind.FLAG, "", "cache cold", "whether the cached prefix has expired",
           ("claude-code", "copilot", "opencode", "canonical")),
    Signal("idle_seconds", Kind.WHOLE, "seconds", "idle seconds", "since the newest call ended", _CALLS),
    Signal("calls_since_compaction", Kind.WHOLE, "calls", "calls since the compaction",
           "conversation calls since the last compaction; unset: none yet", _COMPACTIONS,
           specials=(UNKNOWN, UNSET)),
    Signal("repeat_failures", Kind.WHOLE, "failures", "repeated failures",
           "failures in a row of one tool with one input", ("claude-code", "opencode", "canonical")),
    Signal("thrash", Kind.FLAG, "", "the session thrashes",
           "two compactions within 8 calls, or RED again within 8 calls of one", _COMPACTIONS),
    Signal("thread_kind", Kind.CHOICE, "", "thread", "main chain or subagent", HOSTS,
           options=("main", "subagent"), specials=(), absent="main", measured=False),
    Signal("host", Kind.CHOICE, "", "host", "which host asks", HOSTS, options=HOSTS, measured=False),
    Signal("model", Kind.NAME, "", "model", "which model answers", (*_CALLS, "cursor"), measured=False),
)  # fmt: skip

#: Every signal by name, in the order in which pages list them.
CATALOGUE: Mapping[str, Signal] = MappingProxyType({signal.name: signal for signal in _LIST})
ORDER: Mapping[str, int] = MappingProxyType({name: index for index, name in enumerate(CATALOGUE)})


def signal_of(name: str, *, field: str = "signal") -> Signal:
    """The signal of that name, or `UnknownName`."""
    if name not in CATALOGUE:
        raise UnknownName(field, name, "must be a signal of the catalogue")
    return CATALOGUE[name]


@dataclass(frozen=True, slots=True)
class Signals:
    """Checked values by signal; what was not sent reads as the catalogue says."""

    values: Mapping[str, Value]

    def __getitem__(self, name: str) -> Value:
        """The value, special ones included."""
        return self.values[name] if name in self.values else CATALOGUE[name].absent

    def having(self, **values: Value) -> "Signals":
        """The same with these values in the place of the old ones."""
        return Signals(MappingProxyType({**self.values, **values}))

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> "Signals":
        """Signals from JSON or kernel values; raises the refusal of the first wrong one."""
        return cls(MappingProxyType({name: signal_of(name).take(value) for name, value in raw.items()}))


def value_document(value: Value) -> object:
    """A value as JSON: shares as decimal text where they end, else as a fraction `n/d`."""
    if isinstance(value, Special):
        return value.value
    if isinstance(value, Fraction):
        return _share_text(value)
    return value


def _share_text(share: Fraction) -> str:
    rest = share.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{share.numerator}/{share.denominator}"
    text = format((Decimal(share.numerator) / Decimal(share.denominator)).normalize(), "f")
    return text if Fraction(text) == share else f"{share.numerator}/{share.denominator}"
