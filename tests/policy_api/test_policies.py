"""Policies over HTTP: the whole life, refusals as problems, and verdicts."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from policy_app.models import Policy
from policy_app.services import policies
from policy_app.services.actors import Actor
from sessions_app.models import Role
from tests.policy_api.conftest import Caller
from tests.support.policies import document
from tests.support.world import NOW, World, user_of

VERDICTS = Path(__file__).parents[1] / "inputs" / "ecm" / "kernel-verdicts.json"
DEFAULT = "policies/default"
MARA, JO = "organisation_admin", "second_admin"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def second_admin(world: World) -> None:
    world.users[JO] = user_of(JO, world.mine, None, Role.ADMIN)


def started(call: Caller, role: str = MARA, **zones: str) -> dict[str, Any]:
    answer = call(
        role, "POST", f"{DEFAULT}/drafts", {"title": "Earlier", "table": document(**(zones or {"red": "0.65"}))}
    )
    assert answer.status_code == 201
    told: dict[str, Any] = answer.json()
    return told


def act(call: Caller, role: str, draft: int, name: str, **body: object) -> Any:
    return call(role, "POST", f"{DEFAULT}/drafts/{draft}/{name}", {"reason": "because", **body})


def test_life__over_http__ends_in_a_live_version_that_names_everybody(call: Caller) -> None:
    draft = started(call, "editor")
    assert [each["sentence"] for each in draft["diff"]] == ["RED from 75% to 65%."]
    assert "argument_unmatched" in {each["code"] for each in draft["findings"]}
    saved = call("editor", "PUT", f"{DEFAULT}/drafts/{draft['id']}", {"revision": 1, "table": document(red="0.7")})
    assert saved.json()["revision"] == 2
    assert act(call, "editor", draft["id"], "ask-review").json()["state"] == "in_review"
    seen = call(JO, "GET", f"{DEFAULT}/drafts/{draft['id']}").json()
    assert seen["may_approve"] is True
    assert act(call, JO, draft["id"], "approve", revision=2).json()["state"] == "approved"
    published = act(call, MARA, draft["id"], "publish", revision=2)
    assert published.status_code == 201
    version = published.json()
    assert (version["number"], version["four_eyes"], version["published_by"]) == (2, True, MARA)
    policy = call("viewer", "GET", DEFAULT).json()
    assert policy["live"]["digest"] == version["digest"]
    assert {each["rule"]: each["since"] for each in policy["blame"]} == dict.fromkeys(
        ("P1", "P2", "P3", "P4", "P5", "P6", "P7"), 1
    )
    unfit = policy["arguments_that_no_longer_match"]
    assert [(each["subject"], each["confirmed"], each["now"]) for each in unfit] == [("zones.red", "0.75", "0.7")]
    log = call("viewer", "GET", "audit", None).json()["results"]
    assert [(entry["action"], entry["actor"]) for entry in log[:5]] == [
        ("version.published", MARA),
        ("draft.approved", JO),
        ("draft.review_asked", "editor"),
        ("draft.edited", "editor"),
        ("draft.started", "editor"),
    ]
    assert call("viewer", "GET", "audit/chain").json() == {
        "audit": {"entries": log[0]["number"], "broken_at": None},
        "versions": {"default": {"entries": 2, "broken_at": None}},
    }


def test_edit__stale__is_409_with_the_difference(call: Caller) -> None:
    draft = started(call)["id"]
    first = call(MARA, "PUT", f"{DEFAULT}/drafts/{draft}", {"revision": 1, "table": document(red="0.7")})
    late = call("editor", "PUT", f"{DEFAULT}/drafts/{draft}", {"revision": 1, "table": document(red="0.6")})
    assert (first.status_code, late.status_code) == (200, 409)
    told = late.json()
    assert (told["code"], told["revision"], told["updated_by"]) == ("stale_revision", 2, MARA)
    assert [(each["subject"], each["before"], each["after"]) for each in told["diff"]] == [("zones.red", "0.7", "0.6")]


def test_approve__by_who_edited_or_by_key__is_403(call: Caller) -> None:
    draft = started(call)["id"]
    act(call, MARA, draft, "ask-review")
    assert act(call, MARA, draft, "approve", revision=1).json()["code"] == "own_edit"
    assert act(call, "admin_key", draft, "approve", revision=1).json()["code"] == "no_person"
    assert act(call, MARA, draft, "publish", revision=1).json()["code"] == "not_approved"
    assert act(call, "admin_key", draft, "publish", revision=1).json()["code"] == "not_approved"
    keyed = started(call, "admin_key", red="0.66")["id"]
    act(call, MARA, keyed, "ask-review")
    assert act(call, JO, keyed, "approve", revision=1).json()["code"] == "edited_by_key"


def test_reject__with_a_reason__is_shown_with_the_draft(call: Caller) -> None:
    draft = started(call)["id"]
    act(call, MARA, draft, "ask-review")
    assert act(call, JO, draft, "reject", revision=1, reason="").json()["code"] == "bad_reason"
    told = act(call, JO, draft, "reject", revision=1, reason="too early").json()
    assert told["state"] == "rejected"
    assert [(each["by"], each["reason"], each["void"]) for each in told["reviews"]] == [(JO, "too early", False)]


def test_publish__provisional__keeps_its_terms_until_settled(call: Caller) -> None:
    draft = started(call)["id"]
    act(call, MARA, draft, "ask-review")
    act(call, JO, draft, "approve", revision=1)
    terms = {"authority": "Mara", "undo": "revert to 1", "expires_at": "2026-12-31T00:00:00Z"}
    version = act(call, MARA, draft, "publish", revision=1, provisional=terms).json()
    assert version["provisional"]["authority"] == "Mara"
    settled = call(MARA, "POST", f"{DEFAULT}/versions/2/settle", {"outcome": "kept"}).json()
    assert settled["provisional"]["outcome"] == "kept"
    again = call(MARA, "POST", f"{DEFAULT}/versions/2/settle", {"outcome": "kept"})
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


def test_revert__and_versions__keep_the_old_ones(call: Caller, world: World, policy: Policy) -> None:
    mara = Actor(1, "m", world.mine.pk, may_edit=True, may_approve=True)
    policies.set_four_eyes(policy=policy, wanted=False, reason="alone", by=mara, now=NOW)
    act(call, MARA, started(call)["id"], "publish", revision=1)
    reverted = call(MARA, "POST", f"{DEFAULT}/revert", {"version": 1, "reason": "too many"})
    assert (reverted.status_code, reverted.json()["reverts"]) == (201, 1)
    page = call("read_key", "GET", f"{DEFAULT}/versions?limit=2").json()
    assert [each["number"] for each in page["results"]] == [3, 2]
    rest = call("read_key", "GET", page["next"].removeprefix("/api/v1/")).json()
    assert ([each["number"] for each in rest["results"]], rest["next"]) == ([1], None)
    told = call("read_key", "GET", f"{DEFAULT}/versions/3?against=1").json()
    assert told["diff"] == []
    assert [each["subject"] for each in call("read_key", "GET", f"{DEFAULT}/versions/3").json()["diff"]] == [
        "zones.red"
    ]


def test_live__with_the_etag_that_it_had__is_304_until_something_is_published(call: Caller) -> None:
    first = call("read_key", "GET", f"{DEFAULT}/live")
    assert first.json()["table"]["zones"] == {"amber": "0.5", "red": "0.75", "critical": "0.9"}
    tag = first.headers["ETag"]
    again = call("read_key", "GET", f"{DEFAULT}/live", **{"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    call(MARA, "PATCH", DEFAULT, {"four_eyes": False, "reason": "alone"})
    act(call, MARA, started(call)["id"], "publish", revision=1)
    changed = call("read_key", "GET", f"{DEFAULT}/live", **{"If-None-Match": tag})
    assert (changed.status_code, changed.json()["number"]) == (200, 2)


def test_evaluate__the_400_recorded_meters__gives_their_verdicts(call: Caller) -> None:
    cases = json.loads(VERDICTS.read_text())
    assert len(cases) == 400
    body = [{"meter": case["meter"], "subagent": case["subagent"]} for case in cases]
    answer = call("read_key", "POST", f"{DEFAULT}/evaluate", body)
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [{name: told[name] for name in case["verdict"]} for told, case in zip(results, cases, strict=True)] == [
        case["verdict"] for case in cases
    ]


def test_evaluate__a_version__names_it_and_traces_each_rule(call: Caller) -> None:
    call(MARA, "PATCH", DEFAULT, {"four_eyes": False, "reason": "alone"})
    act(call, MARA, started(call, red="0.65")["id"], "publish", revision=1)
    body = [{"signals": {"context_tokens": 130_000, "window_tokens": 200_000, "depth": 2}}]
    old = call("read_key", "POST", f"{DEFAULT}/evaluate?version=1", body).json()
    new = call("read_key", "POST", f"{DEFAULT}/evaluate", body).json()
    assert (old["version"], old["results"][0]["rule"], new["version"], new["results"][0]["rule"]) == (1, "P6", 2, "P4")
    trace = new["results"][0]["trace"]
    assert [(step["rule"], step["outcome"]) for step in trace] == [
        ("P1", "not_met"),
        ("P2", "not_met"),
        ("P3", "not_met"),
        ("P4", "matched"),
    ]
    assert trace[2]["failed"]["signal"] == "depth"
    assert trace[2]["value"] == 2


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        (b"{}", "bad_body", None),
        (b"[1]", "bad_situation", "/0"),
        (b'[{"meter": {}, "signals": {}}]', "bad_situation", "/0"),
        (b'[{"signals": {"depth": 1}}, {"signals": {"depth": -1}}]', "bad_signals", "/1/depth"),
        (b'[{"signals": {"mood": 1}}]', "bad_signals", None),
        (b'[{"signals": {"utilization": NaN}}]', "bad_body", None),
        (b'[{"signals": {"depth": 1, "depth": 2}}]', "bad_body", None),
        (b"[" * 100_000, "bad_body", None),
        (b"\xff\xfe", "bad_body", None),
    ],
)
def test_evaluate__of_nonsense__is_400_and_says_where(
    call: Caller, body: bytes, code: str, pointer: str | None
) -> None:
    answer = call("read_key", "POST", f"{DEFAULT}/evaluate", body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert pointer is None or answer.json()["pointer"] == pointer


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"title": 1}',
        b'{"title": "x", "more": 1}',
        b'{"title": "\\u0000"}',
        b'{"title": "x", "table": 5}',
    ],
)
def test_drafts__from_nonsense__are_400(call: Caller, body: bytes) -> None:
    answer = call(MARA, "POST", f"{DEFAULT}/drafts", body)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_draft__of_ten_megabytes__is_413(call: Caller) -> None:
    answer = call(MARA, "POST", f"{DEFAULT}/drafts", b" " * 10_000_000)
    assert (answer.status_code, answer.json()["limit"]) == (413, "body")


def test_policies__of_another_organisation__are_not_there(call: Caller, world: World) -> None:
    draft = started(call)["id"]
    assert call("foreign_admin", "GET", f"{DEFAULT}/drafts/{draft}").status_code == 404
    assert call("foreign_admin", "GET", f"{DEFAULT}/drafts").json()["results"] == []
    assert act(call, "foreign_admin", draft, "approve", revision=1).status_code == 404
    assert {
        each["subject"] for each in call("foreign_admin", "GET", "audit?subject=policy/default/draft").json()["results"]
    } == set()
    assert call(MARA, "GET", f"{DEFAULT}?organisation=theirs").status_code == 403


def test_policy__made_new__can_be_drafted_from_a_table(call: Caller) -> None:
    made = call(
        MARA, "POST", "policies", {"slug": "night", "name": "Night", "reason": "batch jobs", "four_eyes": False}
    )
    assert (made.status_code, made.json()["live"]) == (201, None)
    assert call(MARA, "POST", "policies", {"slug": "night", "name": "x", "reason": "y"}).json()["code"] == "slug_taken"
    assert call(MARA, "POST", "policies", {"slug": "Nï/", "name": "x", "reason": "y"}).json()["code"] == "bad_slug"
    assert call(MARA, "GET", "policies/night/live").status_code == 404
    assert call(MARA, "POST", "policies/night/drafts", {"title": "First"}).status_code == 404
    draft = call(MARA, "POST", "policies/night/drafts", {"title": "First", "table": document()}).json()["id"]
    published = call(MARA, "POST", f"policies/night/drafts/{draft}/publish", {"revision": 1, "reason": "go"})
    assert (published.status_code, published.json()["number"]) == (201, 1)
    assert [each["slug"] for each in call("viewer", "GET", "policies").json()["results"]] == ["default", "night"]


def test_evidence__changed__is_audited_and_a_refuted_one_is_named(call: Caller) -> None:
    held = call("viewer", "GET", "evidence/ecm-depth-cap").json()
    claim = {name: held[name] for name in ("slug", "claim", "source", "number", "scope", "tier", "date")}
    sent = {**claim, "status": "refuted", "reason": "our own back-test"}
    assert call("viewer", "PUT", "evidence/ecm-depth-cap", sent).status_code == 403
    told = call("editor", "PUT", "evidence/ecm-depth-cap", sent).json()
    assert (told["status"], told["revision"]) == ("refuted", 2)
    last = call("viewer", "GET", "audit?action=evidence.changed").json()["results"][0]
    assert (last["evidence"], last["reason"]) == (["ecm-depth-cap"], "our own back-test")
    assert last["before"] != last["after"]
    unfit = call("viewer", "GET", DEFAULT).json()["arguments_that_no_longer_match"]
    assert [(each["evidence"], each["why"]) for each in unfit] == [("ecm-depth-cap", "evidence_refuted")]
    fresh = {"slug": "ours", "claim": "c", "source": "s", "status": "confirmed", "reason": "measured"}
    assert call("editor", "POST", "evidence", fresh).status_code == 201
    assert call("editor", "POST", "evidence", fresh).json()["code"] == "slug_taken"
    assert call("editor", "POST", "evidence", {**fresh, "status": "sure"}).json()["code"] == "bad_body"


def test_assignments__by_name__are_kept_in_order(call: Caller) -> None:
    team = {"scope_kind": "team", "scope": "one", "policy": "default", "version": 1, "reason": "pilot"}
    assert call(MARA, "POST", "assignments", team).status_code == 201
    gone = call(MARA, "POST", "assignments", {"scope_kind": "team", "scope": "one", "reason": "over"})
    assert (gone.status_code, gone.json()["policy"]) == (201, None)
    assert call(MARA, "POST", "assignments", {**team, "scope": "nowhere"}).status_code == 404
    assert call(MARA, "POST", "assignments", {**team, "scope_kind": "planet"}).status_code == 400
    assert call("editor", "POST", "assignments", team).status_code == 403
    rows = call("viewer", "GET", "assignments").json()["results"]
    assert [(row["scope"], row["policy"], row["version"]) for row in rows] == [
        ("one", None, None),
        ("one", "default", 1),
    ]


def test_numbers__in_answers__are_as_exact_as_in_the_table(call: Caller) -> None:
    table = call("viewer", "GET", f"{DEFAULT}/live").json()["table"]
    assert Decimal(table["limits"]["tool_result_share_prune"]) == Decimal("0.4")
