"""The automation contract end to end: deliver over HTTP, fold, read; answers hold against the published schemas."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from referencing import Registry, Resource

from sessions_app.models import PriceRow
from tests.api.conftest import Caller
from tests.support import deliveries as story
from tests.support.world import World, compaction_in, session_in
from tests.web.test_access import routes

DOCS = Path(__file__).parents[2] / "docs"
SCHEMAS = {path.name: json.loads(path.read_text()) for path in (DOCS / "schemas").glob("*.schema.json")}
REGISTRY: Registry[Any] = Registry().with_resources([(n, Resource.from_contents(s)) for n, s in SCHEMAS.items()])

ADDRESSES = {
    "claude-code-hook": "/api/v1/hooks/claude-code",
    "claude-code-otlp-logs": "/otlp/v1/logs",
    "claude-code-otlp-metrics": "/otlp/v1/metrics",
    "claude-code-transcript": "/api/v1/transcripts/claude-code",
}


def holds(answer: Any, name: str) -> Any:
    """The answer's JSON, after it was held against a schema."""
    told = json.loads(answer.content)
    jsonschema.Draft202012Validator(SCHEMAS[f"{name}.schema.json"], registry=REGISTRY).validate(told)
    return told


def deliver(world: World, address: str, body: bytes) -> Any:
    headers = {"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    return Client().post(address, body, "application/json", headers=headers)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schema__itself__is_valid(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


def test_contract__recorded_story__has_the_figures_that_the_host_was_served(world: World, ask: Caller) -> None:
    call_command("seed_prices", verbosity=0, stdout=StringIO())
    for part in story.whole_story():
        answer = deliver(world, ADDRESSES[part.feed], part.body)
        assert answer.status_code in (200, 202)
        if part.feed == "claude-code-transcript":
            holds(answer, "receipt")
    assert holds(ask("ingest_key", "/api/v1/lag"), "lag")["dirty_sessions"] == 1
    story.fold_everything()
    assert ask("ingest_key", "/api/v1/lag").json()["dirty_sessions"] == 0
    page = holds(ask("read_key", "/api/v1/sessions", host="claude-code", team="one"), "sessions")
    (told,) = page["results"]
    expected = {
        "calls": 9,
        "aux_calls": 1,
        "uncached_input": 53,
        "cache_read": 472_200,
        "cache_write_5m": 323_000,
        "cache_write_1h": 1_500,
        "cache_write_unknown_ttl": 700,
        "output": 4_450,
        "cost_usd": "1.428819",
        "cost_complete": True,
        "compactions": 1,
        "threads": 2,
        "zones": ["GREEN", "GREEN", "AMBER", "AMBER", "RED", "RED", "GREEN", "GREEN"],
        "last_occupancy": 28_505,
        "window": 200_000,
        "lower_bound": [],
    }
    assert {name: told[name] for name in expected} == expected
    detail = holds(ask("read_key", f"/api/v1/sessions/{told['id']}"), "session")
    assert len(detail["call_entries"]) == 10
    assert {call["price_row"] for call in detail["call_entries"]} <= set(PriceRow.objects.values_list("pk", flat=True))
    for group in ("day", "host", "project", "model", "session", "team", ""):
        (row,) = holds(ask("read_key", "/api/v1/totals", group_by=group), "totals")["results"]
        assert (row["calls"], row["aux_calls"], row["cost_usd"], row["output"]) == (9, 1, "1.428819", 4_450)


@pytest.mark.parametrize("trap", ["T97", "T98"])
def test_contract__calls_around_midnight__are_booked_by_the_asked_zone(world: World, ask: Caller, trap: str) -> None:
    body = (story.INPUTS / "traps" / f"{trap}.jsonl").read_bytes()
    expected = json.loads((story.INPUTS / "traps" / "expected.json").read_text())
    expectation = expected.get("cases", expected)[trap]["expectation"]
    deliver(world, ADDRESSES["claude-code-transcript"], body)
    story.fold_everything()
    for zone, days in expectation["by_day"].items():
        rows = ask("read_key", "/api/v1/totals", group_by="day", tz=zone).json()["results"]
        assert {row["day"]: [row["uncached_input"], row["output"]] for row in rows} == days


def test_contract__empty_and_odd_sessions__hold_against_the_schema_too(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", cost_usd=None, unpriced_calls=1, window=None, project=None, last_at=None)
    compaction_in(session, number=1, at=None, trigger="unknown")
    holds(ask("read_key", "/api/v1/sessions"), "sessions")
    holds(ask("read_key", "/api/v1/totals", group_by="project"), "totals")
    holds(ask("read_key", "/api/v1/totals", tz="Nowhere"), "problem")
    holds(ask("stranger", "/api/v1/sessions"), "problem")


def test_openapi__paths__are_the_ones_that_machines_may_use() -> None:
    document = yaml.safe_load((DOCS / "openapi.yaml").read_text())
    ours = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route}") for route in routes()}
    assert set(document["paths"]) == {route for route in ours if route.startswith(("/api/", "/otlp/"))}
    named = {part for part in json.dumps(document).split('"') if part.startswith("schemas/")}
    assert {name.removeprefix("schemas/") for name in named} <= set(SCHEMAS)
