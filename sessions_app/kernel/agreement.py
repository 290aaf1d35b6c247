"""How our causes agree with the provider's word, with the word withheld from the rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sessions_app.kernel.calls_sent import Sent
from sessions_app.kernel.causes import TOLD, Cause, Confidence
from sessions_app.kernel.misses import explain

#: What our rules leave without a cause.
NOT_NAMED = "not named"
#: The usual guess of other tools: at least half of the context before is written again, and 1,000 tokens.
BASELINE_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Pair:
    """One call for which the provider named a reason: its cause in our words, and ours."""

    theirs: str
    ours: str


@dataclass(frozen=True, slots=True)
class Detection:
    """Calls that a rule takes for misses: among those that the provider named, and among all others."""

    labelled: int = 0
    others: int = 0

    def __add__(self, other: "Detection") -> "Detection":
        return Detection(self.labelled + other.labelled, self.others + other.others)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Pairs over all calls looked at; `silent` calls carry a reason without information."""

    pairs: tuple[Pair, ...] = ()
    silent: int = 0
    others: int = 0
    ours: Detection = Detection()
    baseline: Detection = Detection()

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            self.pairs + other.pairs,
            self.silent + other.silent,
            self.others + other.others,
            self.ours + other.ours,
            self.baseline + other.baseline,
        )

    @property
    def named(self) -> int:
        """Labelled calls for which our rules name a cause."""
        return sum(1 for pair in self.pairs if pair.ours != NOT_NAMED)

    @property
    def right(self) -> int:
        """Those of them with the provider's cause."""
        return sum(1 for pair in self.pairs if pair.ours == pair.theirs)

    @property
    def matrix(self) -> Mapping[tuple[str, str], int]:
        """How often (theirs, ours)."""
        return Counter((pair.theirs, pair.ours) for pair in self.pairs)

    @property
    def always_pause(self) -> int:
        """How often "it was a pause" would have been right."""
        return sum(1 for pair in self.pairs if pair.theirs.startswith("ttl_"))


def agreement(calls: Sequence[Sent]) -> Agreement:
    """Compare the calls of one session, in causal order."""
    withheld = explain(replace(call, told="", told_tokens=None) for call in calls)
    pairs: list[Pair] = []
    silent = others = 0
    ours, baseline = Detection(), Detection()
    for previous, call in _turns(calls):
        miss = withheld[call.key].miss
        is_miss = miss is not None and miss.cause is not Cause.SMALL
        theirs = _theirs(call)
        if theirs is None:
            silent += call.told != ""
            others += call.told == ""
        else:
            is_named = miss is not None and miss.confidence is not Confidence.GUESS
            pairs.append(Pair(str(theirs), str(miss.cause) if miss and is_named else NOT_NAMED))
        if call.told == "" or theirs is not None:
            ours += _counted(is_miss, theirs)
            baseline += _counted(_baseline(previous, call), theirs)
    return Agreement(tuple(pairs), silent, others, ours, baseline)


def _turns(calls: Iterable[Sent]) -> Iterator[tuple[Sent | None, Sent]]:
    """Each turn with the one before in its thread."""
    last: dict[str, Sent] = {}
    for call in calls:
        if call.is_turn:
            yield last.get(call.thread), call
            last[call.thread] = call


def _theirs(call: Sent) -> Cause | None:
    """The provider's reason in our words; a compaction or clearing is what changed the messages."""
    cause = TOLD.get(call.told)
    if cause is Cause.MESSAGES and call.follows == "compaction":
        return Cause.COMPACTION
    if cause is Cause.MESSAGES and call.follows == "clearing":
        return Cause.CONTEXT_EDIT
    return cause


def _counted(is_miss: bool, theirs: Cause | None) -> Detection:
    return Detection(int(is_miss and theirs is not None), int(is_miss and theirs is None))


def _baseline(previous: Sent | None, call: Sent) -> bool:
    return previous is not None and call.written >= max(BASELINE_TOKENS, previous.leaves.prompt // 2)


def report(found: Agreement) -> str:
    """The comparison as text."""
    n, ours, base = len(found.pairs), found.ours, found.baseline
    lines = [
        "Our causes against the provider's own word, which the rules did not see",
        f"  {n} misses with a reason; {found.silent} more whose reason says nothing",
        f"  named by arithmetic   {found.named} of {n} ({_percent(found.named, n)} coverage)",
        f"  precision             {found.right} of {found.named} ({_percent(found.right, found.named)})",
        f'  baseline "always a pause": {found.always_pause} of {n} right ({_percent(found.always_pause, n)})',
        "",
        "  Which calls are misses at all           of the named   of the others",
        f"    ours                                  {ours.labelled:>6} of {n:<4} {ours.others:>7} of {found.others}",
        f"    written >= half of the context before {base.labelled:>6} of {n:<4} {base.others:>7} of {found.others}",
        "",
        "  the provider says        we say                          calls",
    ]
    lines += [f"    {theirs:<22} {ours:<30} {count:>6}" for (theirs, ours), count in sorted(found.matrix.items())]
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{part * 100 // whole}%" if whole else "no case"
