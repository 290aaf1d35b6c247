"""What a clearing would bring, by the counts of token counting; prices of claude-sonnet-4-5: read 0.30, write 3.75."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.clearing_preview import preview
from sessions_app.kernel.pricing import Rates
from tests.support.story import priced
from tests.support.world import World, build

RATES = Rates(*(Decimal(rate) for rate in ("5", "25", "0.5", "6.25", "10")))
BODY = {"model": "claude-sonnet-4-5", "input_tokens": 60_000, "context_management": {"original_input_tokens": 95_000}}


@pytest.fixture
def world(db: None) -> World:
    priced()
    return build()


def ask(client: Any, world: World, **more: Any) -> Any:
    return client.post(
        "/api/v1/clearings/preview",
        {**BODY, **more},
        content_type="application/json",
        headers={"Authorization": f"Bearer {world.secrets['ingest_key']}"},
    )


def test_preview__suffix_known__written_anew_and_back_after_so_many_calls(client: Any, world: World) -> None:
    told = ask(client, world, suffix_tokens=20_000).json()
    # Clearing reads 40,000 and writes 20,000; going on reads 95,000: (12,000 + 75,000 - 28,500) per million.
    assert told["reclaims_tokens"] == 35_000
    assert told["best"] == told["worst"] == {"extra_usd": "0.0585", "pays_back_in_calls": 6}
    assert told["per_call_usd"] == "0.0105"
    # Cold, 35,000 tokens less are written.
    assert told["cold"] == {"extra_usd": "-0.13125", "pays_back_in_calls": 0}


def test_preview__suffix_not_known__a_range(client: Any, world: World) -> None:
    told = ask(client, world).json()
    # All is read on: 18,000 - 28,500; all is written: 225,000 - 28,500.
    assert told["best"] == {"extra_usd": "-0.0105", "pays_back_in_calls": 0}
    assert told["worst"] == {"extra_usd": "0.1965", "pays_back_in_calls": 19}
    assert "0 to 19" in told["advice"]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"model": "acme-coder-9"}, "unpriced_model"),
        ({"ttl": "1d"}, "bad_ttl"),
        ({"input_tokens": 96_000}, "bad_tokens"),
        ({"suffix_tokens": 60_001}, "bad_tokens"),
        ({"input_tokens": -1}, "bad_tokens"),
        ({"context_management": {"original_input_tokens": 1 << 40}}, "bad_tokens"),
        ({"context_management": None}, "bad_body"),
        ({"input_tokens": "many"}, "bad_body"),
    ],
)
def test_preview__counts_of_no_prompt__refused(client: Any, world: World, bad: dict[str, Any], code: str) -> None:
    answer = ask(client, world, **bad)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@given(after=st.integers(0, 10**6), cleared=st.integers(0, 10**6), share=st.integers(0, 100))
def test_preview__any_cut__lies_between_best_and_worst(after: int, cleared: int, share: int) -> None:
    wide = preview(before=after + cleared, after=after, suffix=None, hourly=False, rates=RATES)
    exact = preview(before=after + cleared, after=after, suffix=after * share // 100, hourly=False, rates=RATES)
    assert wide.best.extra_usd <= exact.best.extra_usd == exact.worst.extra_usd <= wide.worst.extra_usd
    assert exact.is_exact
    assert wide.cold.extra_usd <= 0
