"""OpenCode: the recorded story in any order, real sessions leaf by leaf, forks, steps, subagents."""

import json
import random
from typing import Any

import pytest

from sessions_app.kernel.facts import SessionFold
from sessions_app.models import Session, Team
from tests.support import deliveries as given
from tests.support.deliveries import INPUTS, Delivery
from tests.support.inputs import corpus_of_others, totals_of_others
from tests.support.pins import BOOK

EVENTS = (INPUTS / "hosts" / "opencode-1.18.33" / "plugin-events.jsonl").read_bytes().splitlines()
FILES = sorted(name for name in totals_of_others() if name.startswith("opencode/"))
#: Builds from 1.18 on write output without reasoning; ours includes it.
WITHOUT_REASONING = {"opencode/21.json"}
#: Four messages ended with `finish: unknown` and no usage: calls that nobody counted, and no points of occupancy.
UNCOUNTED = {"opencode/21.json": 4}


def hooks(lines: list[bytes]) -> Delivery:
    return Delivery("opencode-hook", b"\n".join(lines))


def document(messages: list[dict[str, Any]], **session: Any) -> Delivery:
    told = {"info": {"id": "ses_one", "version": "1.18.33", **session}, "messages": messages}
    return Delivery("opencode-transcript", json.dumps(told).encode())


def answered(name: str, created_ms: int, tokens: dict[str, Any], *parts: Any, **info: Any) -> dict[str, Any]:
    """One message of the assistant, ten seconds long."""
    given_info = {
        "id": name,
        "sessionID": "ses_one",
        "role": "assistant",
        "modelID": "claude-sonnet-4-5",
        "time": {"created": created_ms, "completed": created_ms + 10_000},
        "tokens": tokens,
    }
    return {"info": {**given_info, **info}, "parts": list(parts)}


def counted(given_tokens: int, read: int = 0, out: int = 10, reasoning: int = 0, **more: Any) -> dict[str, Any]:
    return {"input": given_tokens, "output": out, "reasoning": reasoning, "cache": {"read": read, "write": 0}, **more}


def sums(fold: SessionFold) -> tuple[int, ...]:
    fields = fold.summary.fields
    return tuple(fields[name] for name in ("calls", "uncached_input", "cache_read", "output"))


AT = 1_796_077_000_000


@pytest.mark.parametrize("seed", range(4))
def test_story__any_order_doubled_and_split__the_served_calls(seed: int, teams: dict[str, Team]) -> None:
    rng = random.Random(seed)
    lines = [*EVENTS, *(line for line in EVENTS if rng.random() < 0.4)]
    rng.shuffle(lines)
    while lines:
        size = rng.randint(1, 30)
        piece, lines = lines[:size], lines[size:]
        given.deliver(teams["A"], [hooks(piece)])
    given.fold_everything()
    session = Session.objects.get()
    assert (session.host, session.calls, session.aux_calls) == ("opencode", 4, 0)
    assert (session.uncached_input, session.cache_read, session.output) == (60_000, 230_000, 200)
    points = session.call_rows.order_by("number").values_list("occupancy", flat=True)
    assert list(points) == [50_000, 65_000, 80_000, 95_000]
    assert session.project is not None
    assert (session.project.name, session.version) == ("acme-api", "1.18.33")


@pytest.mark.parametrize("name", FILES)
def test_corpus__each_file__leaf_by_leaf(name: str) -> None:
    wanted = totals_of_others()[name]["totals"]
    folds = given.folded([Delivery("opencode-transcript", corpus_of_others()[name])], BOOK)
    fields = [fold.summary.fields for fold in folds.values()]
    found = {
        leaf: sum(f[leaf] for f in fields) for leaf in ("uncached_input", "cache_read", "cache_write_5m", "output")
    }
    assert found == {
        "uncached_input": wanted["input"],
        "cache_read": wanted["cache_read"],
        "cache_write_5m": wanted["cache_write"],
        "output": wanted["output"] + (wanted["reasoning"] if name in WITHOUT_REASONING else 0),
    }
    calls = sum(f["calls"] for f in fields)
    assert calls == totals_of_others()[name]["responses"] - UNCOUNTED.get(name, 0)
    assert [bound["count"] for f in fields for bound in f["lower_bound"]] == list(filter(None, [UNCOUNTED.get(name)]))


def test_export_and_plugin__of_one_session__each_call_once() -> None:
    told = [json.loads(line)["payload"] for line in EVENTS]
    infos = {p["properties"]["info"]["id"]: p["properties"]["info"] for p in told if p.get("type") == "message.updated"}
    export = {"info": told[0]["properties"]["info"], "messages": [{"info": i, "parts": []} for i in infos.values()]}
    both = [hooks(EVENTS), Delivery("opencode-transcript", json.dumps(export).encode())]
    (fold,) = given.folded(both, BOOK).values()
    assert sums(fold) == (4, 60_000, 230_000, 200)


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [
        (counted(100, 50, 30, 10, total=180), (1, 100, 50, 30)),
        (counted(100, 50, 30, 10, total=190), (1, 100, 50, 40)),
        (counted(100, 50, 30, 10, total=130), (1, 50, 50, 30)),
        (counted(100, 50, 30, 10), (1, 100, 50, 30)),
        (counted(100, 50, 5, 10), (1, 100, 50, 15)),
    ],
    ids=["reasoning in output", "reasoning apart", "input with cache", "no total", "no total, reasoning larger"],
)
def test_tokens__by_their_total__one_convention(tokens: dict[str, Any], wanted: tuple[int, ...]) -> None:
    (fold,) = given.folded([document([answered("m1", AT, tokens)])], BOOK).values()
    assert sums(fold) == wanted
    assert "convention_suspect" not in fold.calls[0].flags


def test_tokens__total_fits_nothing__suspect() -> None:
    (fold,) = given.folded([document([answered("m1", AT, counted(100, 50, 30, 10, total=7))])], BOOK).values()
    assert "convention_suspect" in fold.calls[0].flags


def test_message__of_several_steps__each_is_a_call() -> None:
    steps = [{"id": f"prt_{n}", "type": "step-finish", "tokens": counted(100 * n, out=n)} for n in (1, 2, 3)]
    (fold,) = given.folded([document([answered("m1", AT, counted(300, out=3), *steps)])], BOOK).values()
    assert sums(fold) == (3, 600, 0, 6)
    assert [call.occupancy for call in fold.calls] == [100, 200, 300]


def test_fork__without_a_mark__copies_known_by_their_age(teams: dict[str, Team]) -> None:
    first = [answered("m1", AT, counted(100)), answered("m2", AT + 20_000, counted(200))]
    copies = [
        answered("c1", AT, counted(100), sessionID="ses_two"),
        answered("c2", AT + 20_000, counted(200), sessionID="ses_two"),
        answered("m3", AT + 90_000, counted(50), sessionID="ses_two"),
    ]
    fork = document(copies, id="ses_two", time={"created": AT + 60_000})
    given.deliver(teams["A"], [fork, document(first, time={"created": AT - 10})])
    given.fold_everything()
    found = Session.objects.order_by("host_session_id").values_list("host_session_id", "calls", "uncached_input")
    assert list(found) == [("ses_one", 2, 300), ("ses_two", 1, 50)]


def test_subagent__a_session_that_names_its_parent__is_a_thread_of_it() -> None:
    child = document([answered("c1", AT + 1, counted(70), sessionID="ses_sub")], id="ses_sub", parentID="ses_one")
    folds = given.folded([document([answered("m1", AT, counted(100))]), child], BOOK)
    (fold,) = folds.values()
    assert (fold.summary.fields["calls"], fold.summary.fields["subagent_calls"]) == (2, 1)
    assert [call.thread for call in fold.calls] == ["", "ses_sub"]


def test_compaction__asked_for_by_the_host__one_with_its_trigger_and_own_call() -> None:
    asking = {"info": {"id": "u2", "sessionID": "ses_one", "role": "user", "time": {"created": AT + 50_000}}}
    messages = [
        answered("m1", AT, counted(150_000)),
        {**asking, "parts": [{"id": "prt_c", "type": "compaction", "auto": True}]},
        answered("k1", AT + 51_000, counted(9_000, 141_000), parentID="u2", summary=True, mode="compaction"),
        answered("m2", AT + 70_000, counted(12_000)),
    ]
    (fold,) = given.folded([document(messages)], BOOK).values()
    (compaction,) = fold.compactions
    assert (compaction.state, compaction.trigger, compaction.before_tokens) == ("completed", "auto", 150_000)
    assert (compaction.after_tokens, fold.summary.fields["calls"], fold.summary.fields["aux_calls"]) == (12_000, 2, 1)
    assert compaction.summary_call


def test_title__seen_by_its_beginning_only__lower_bound() -> None:
    event = {"type": "chat.params", "id": "e1", "properties": {"sessionID": "ses_one", "agent": "title"}}
    body = [json.dumps({"received_at": AT / 1000, "payload": event}).encode()] * 2
    (fold,) = given.folded([hooks(body)], BOOK).values()
    assert [(b["code"], b["count"]) for b in fold.summary.fields["lower_bound"]] == [("call_uncounted", 1)]


def test_window__told_when_a_call_begins__stated() -> None:
    model = {"id": "gpt-local", "limit": {"context": 200_000}}
    event = {
        "type": "chat.params",
        "id": "e1",
        "properties": {"sessionID": "ses_one", "agent": "build", "model": model},
    }
    told = answered("m1", AT, counted(120_000), modelID="gpt-local")
    (fold,) = given.folded([hooks([json.dumps(event).encode()]), document([told])], BOOK).values()
    assert (fold.calls[0].window.tokens, fold.calls[0].window.origin, fold.calls[0].zone) == (
        200_000,
        "stated",
        "AMBER",
    )
