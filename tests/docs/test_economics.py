"""The examples of docs/economics.md are what the kernel computes; money is never a float."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from sessions_app.kernel import parts
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.pricing import cost
from tests.support.pins import PINNED

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"^(cost|needed|lost|saved)\s+(.*?)\s*= (\S+)$", re.MULTILINE)
NAMES = {
    "uncached": "uncached_input",
    "read": "cache_read",
    "written_5m": "cache_write_5m",
    "written_1h": "cache_write_1h",
    "output": "output",
}
TEXT = (ROOT / "docs" / "economics.md").read_text()
EXAMPLES = LINE.findall("\n".join(re.findall(r"```example\n(.*?)```", TEXT, re.DOTALL)))


@pytest.mark.parametrize(("formula", "given", "said"), EXAMPLES)
def test_economics__worked_example__is_what_the_kernel_says(formula: str, given: str, said: str) -> None:
    counts = {name: int(value) for name, value in (pair.split("=") for pair in given.split())}
    missed = counts.pop("missed", 0)
    used = Leaves(**{NAMES[name]: count for name, count in counts.items()})
    price = PINNED["claude-sonnet-4-5"]
    shifts = parts.read_instead(used, missed)
    found = {
        "cost": cost(used, price),
        "needed": parts.needed(used, shifts, price),
        "lost": parts.lost(used, shifts, price),
        "saved": parts.saved(used, price),
    }[formula]
    assert found == Decimal(said)


def test_economics__examples__cover_every_formula() -> None:
    assert {formula for formula, _, _ in EXAMPLES} == {"cost", "needed", "lost", "saved"}


#: From the reading of money to its writing.
MONEY = (
    *("kernel/pricing.py", "kernel/parts.py", "kernel/misses.py", "kernel/money.py", "kernel/charges.py"),
    *("services/prices.py", "services/pricing_rows.py", "services/repricing.py", "services/price_seed.py"),
    *("services/explaining.py", "services/miss_sums.py", "services/accepting.py", "api/ledger.py"),
    *("dashboard/ledger.py", "dashboard/call_page.py", "dashboard/prices_page.py"),
)


@pytest.mark.parametrize("path", MONEY)
def test_money__from_parse_to_page__no_float(path: str) -> None:
    source = (ROOT / "sessions_app" / path).read_text()
    assert not re.search(r"\bfloat\b|Decimal\(\d+\.\d|FloatField", source)
