"""Whether a record's input count holds the cached tokens, by its keys and by arithmetic; and what follows from it.

The same word, input_tokens, covers everything at one provider and only the uncached rest at another.
"""

from dataclasses import dataclass

from sessions_app.kernel.facts import capped
from sessions_app.kernel.readings import CONVENTION_SUSPECT

__all__ = ["CONVENTION_SUSPECT", "Counts", "disjoint"]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a call took in and gave out, each token once. `is_suspect`: the record contradicts itself."""

    uncached: int | None
    output: int | None
    is_suspect: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        return (CONVENTION_SUSPECT,) if self.is_suspect else ()


def disjoint(
    *,
    given: int | None,
    read: int | None,
    written: int | None,
    output: int | None,
    reasoning: int | None = None,
    total: int | None = None,
    inclusive: bool = True,
) -> Counts:
    """Take the cached part out of an input count that claims to hold it (`inclusive`), unless that cannot be.

    A total that fits only one reading decides. Cached tokens beyond the input prove that it does not hold
    them; the counts are then taken as they stand, suspect. So is a total that fits no reading.
    """
    prompt, cached, answer = given or 0, (read or 0) + (written or 0), output or 0
    if not inclusive:
        return Counts(given, output, bool(total) and total != prompt + cached + answer)
    if cached and total == prompt + cached + answer:
        return Counts(given, output)
    if cached > prompt:
        return Counts(given, output, is_suspect=True)
    uncached = None if given is None else prompt - cached
    if not total or total == prompt + answer:
        return Counts(uncached, output)
    # Some providers count reasoning beside the output; only the total gives it away.
    if reasoning and total == prompt + answer + reasoning:
        return Counts(uncached, capped(answer + reasoning))
    return Counts(uncached, output, is_suspect=True)
