"""Where verdicts can change: situations between the same two cuts, and equal in all else that is tested, get the same.

So a history of a million calls is evaluated by one call of each cell.
"""

from collections.abc import Mapping
from fractions import Fraction

from policy_app.kernel.conditions import bounds_of
from policy_app.kernel.numbers import exact
from policy_app.kernel.signals import CATALOGUE
from policy_app.kernel.table import Table
from policy_app.kernel.zones import LINE_NAMES


def tested(table: Table) -> frozenset[str]:
    """The signals that rules in force look at; a zone is utilization, by the table's lines."""
    names = {condition.signal for rule in table.live_rules for condition in rule.when}
    return frozenset(names | {"utilization"} if "zone" in names else names)


def cuts(table: Table) -> Mapping[str, tuple[Fraction, ...]]:
    """Number signal that is tested -> the numbers, in order, at which a rule may answer otherwise."""
    found: dict[str, set[Fraction]] = {name: set() for name in tested(table) if CATALOGUE[name].is_number}
    for rule in table.live_rules:
        for condition in rule.when:
            found.get(condition.signal, set()).update(exact(bound.value) for bound in bounds_of(condition))
    if "zone" in tested(table):
        found["utilization"].update(exact(getattr(table.lines, name)) for name in LINE_NAMES)
    return {name: tuple(sorted(numbers)) for name, numbers in found.items()}
