"""The regions that are listed as gaps are exactly the situations that no rule takes, not only some of them."""

import random
from fractions import Fraction

import pytest

from policy_app.kernel.analysis import analyse
from policy_app.kernel.cells import Span
from policy_app.kernel.signals import Special, Value
from policy_app.kernel.space import Part, Region
from tests.policy_analysis.brute import situations
from tests.policy_kernel.tables import small_table


def lies_in(region: Region, values: dict[str, Value]) -> bool:
    return all(_part_holds(part, values[part.signal]) for part in region.parts)


def _part_holds(part: Part, value: Value) -> bool:
    if isinstance(value, Special):
        return value in part.specials
    if part.spans and isinstance(value, int | Fraction):
        return any(_span_holds(span, Fraction(value)) for span in part.spans)
    return value in part.names


def _span_holds(span: Span, number: Fraction) -> bool:
    """A cut (number, 0) lies just below the number, (number, 1) just above it; a number lies between its own two."""
    return span.low <= (number, 0) and (span.high is None or (number, 1) <= span.high)


@pytest.mark.parametrize("seed", range(150))
def test_gaps__any_small_table__hold_what_no_rule_takes_and_nothing_else(seed: int) -> None:
    table = small_table(random.Random(seed))
    names = {each.signal for rule in table.live_rules for each in rule.when}
    found = analyse(table)
    if "model" in names or found.more_gaps:
        return  # names of models stand for others like them; a shortened list is not all
    for values in situations(table):
        taken = any(all(each.matches(values[each.signal]) for each in rule.when) for rule in table.live_rules)
        assert any(lies_in(gap.region, values) for gap in found.gaps) is not taken, values
