"""Real sessions, sanitised: each file's sums leaf by leaf, and of all together with shared responses once.

The totals were computed independently of us (message id + request id, last line wins). Only their record of
`cache_write_unsplit` has no leaf of ours: unknown-TTL writes are part of the 5-minute ones.
"""

import json
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest

from sessions_app.kernel.facts import SessionFold
from sessions_app.models import Session, Team
from sessions_app.services import prices
from tests.support import deliveries as given
from tests.support.deliveries import Delivery
from tests.support.pins import BOOK, PINS

TOTALS: dict[str, dict[str, Any]] = {
    name: value
    for name, value in json.loads((given.INPUTS / "corpus-claude-code.totals.json").read_text()).items()
    if name.startswith("claude-code/")
}
FEED = "claude-code-transcript"
LEAVES = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")


def files() -> Iterator[tuple[str, bytes]]:
    with tarfile.open(given.INPUTS / "corpus-claude-code.tar.xz") as archive:
        for member in archive:
            if member.isfile() and (handle := archive.extractfile(member)):
                yield f"claude-code/{member.name.rsplit('/', 1)[-1]}", handle.read()


@pytest.fixture(scope="module")
def corpus() -> dict[str, bytes]:
    return dict(files())


def leaves(name: str) -> tuple[int, ...]:
    """The published totals of a file in our leaves."""
    totals = TOTALS[name].get("totals") or {}
    keys = (("input",), ("cache_read",), ("cache_write_5m", "cache_write_unsplit"), ("cache_write_1h",), ("output",))
    return tuple(sum(totals.get(key, 0) for key in parts) for parts in keys)


def summed(folds: dict[str, SessionFold]) -> tuple[int, ...]:
    return tuple(sum(fold.summary.fields[leaf] for fold in folds.values()) for leaf in LEAVES)


def events(name: str) -> list[tuple[str, str, int]]:
    """Compactions and clearings as published: kind, trigger, tokens before."""
    kinds = {"compact": "compaction", "microcompact": "micro"}
    listed = TOTALS[name].get("compaction_events") or []
    return sorted((kinds[event["kind"]], event["trigger"], event["preTokens"]) for event in listed)


def told(folds: dict[str, SessionFold]) -> list[tuple[str, str, int]]:
    """The same as we tell it; a summary whose boundary is in no line has no figures."""
    facts = [fact for fold in folds.values() for fact in fold.compactions if fact.state == "completed"]
    return sorted((str(fact.kind), fact.trigger, fact.before_tokens or 0) for fact in facts)


def test_corpus__clearings_of_the_host__each_with_what_it_saved(corpus: dict[str, bytes]) -> None:
    for number, cleared in ((46, 1), (48, 2)):
        (fold,) = given.folded([Delivery(FEED, corpus[f"claude-code/{number}.jsonl"])], BOOK).values()
        assert [clearing.kind for clearing in fold.clearings] == ["micro"] * cleared
        saved = sum(fact.saved_tokens or 0 for fact in fold.compactions if fact.kind == "micro")
        assert sum(clearing.cleared_tokens for clearing in fold.clearings) == saved > 0


def test_corpus__each_file__sums_responses_and_compactions_as_published(corpus: dict[str, bytes]) -> None:
    assert len(corpus) == len(TOTALS)
    for name, body in corpus.items():
        folds = given.folded([Delivery(FEED, body)], BOOK)
        assert summed(folds) == leaves(name), name
        fields = [fold.summary.fields for fold in folds.values()]
        assert sum(f["calls"] + f["aux_calls"] for f in fields) == TOTALS[name].get("responses", 0), name
        assert sum(f["compactions"] for f in fields) == TOTALS[name].get("compactions", 0), name
        assert told(folds) == events(name), name


@pytest.mark.parametrize(("number", "counted"), [(51, 174_247), (68, 167_731)])
def test_corpus__held_at_200k_by_the_host__not_green_when_it_compacted(
    number: int, counted: int, corpus: dict[str, bytes]
) -> None:
    (fold,) = [
        f for f in given.folded([Delivery(FEED, corpus[f"claude-code/{number}.jsonl"])], BOOK).values() if f.calls
    ]
    (compaction,) = fold.compactions
    before = next(c for c in reversed(fold.calls) if c.occupancy == compaction.before_by_last_call)
    assert (compaction.trigger, compaction.before_tokens) == ("auto", counted)
    assert (before.zone, before.window.tokens, before.window.origin) == ("RED", 200_000, "bounded")
    assert (before.known_zone, before.known_window) == ("GREEN", 1_000_000)


def test_corpus__compacted_by_hand__window_stays_assumed(corpus: dict[str, bytes]) -> None:
    (fold,) = [f for f in given.folded([Delivery(FEED, corpus["claude-code/42.jsonl"])], BOOK).values() if f.calls]
    assert (fold.summary.fields["window"], fold.summary.fields["window_origin"]) == (1_000_000, "assumed")


def test_corpus__all_files_in_one_team__shared_responses_once(corpus: dict[str, bytes], teams: dict[str, Team]) -> None:
    prices.seed(prices=PINS, source="test pins")
    given.deliver(teams["A"], [Delivery(FEED, body) for body in corpus.values()])
    given.fold_everything()
    sessions = Session.objects.all()
    found = tuple(sum(getattr(s, leaf) for s in sessions) for leaf in LEAVES)
    assert found == together(corpus)
    owned = sum(s.calls + s.aux_calls for s in sessions)
    assert owned < sum(total.get("responses", 0) for total in TOTALS.values())
    assert sum(s.compactions for s in sessions) == 6


def together(corpus: dict[str, bytes]) -> tuple[int, ...]:
    """Each response of all files once, by a plain reading of the lines: the id names it, the last line wins."""
    last: dict[str, dict[str, Any]] = {}
    for body in corpus.values():
        for line in body.split(b"\n"):
            record = json.loads(line) if line.strip() else None
            record = record if isinstance(record, dict) else {}
            message = record.get("message")
            if isinstance(message, dict) and message.get("usage") and message.get("model") != "<synthetic>":
                last[message.get("id") or record["uuid"]] = message["usage"]
    sums = [0, 0, 0, 0, 0]
    for usage in last.values():
        hourly = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0)
        written = usage.get("cache_creation_input_tokens") or 0
        read = usage.get("cache_read_input_tokens") or 0
        parts = (usage["input_tokens"], read, written - hourly, hourly, usage["output_tokens"])
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    return tuple(sums)
