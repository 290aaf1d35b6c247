"""Policies as files over HTTP."""

from pathlib import Path

import pytest
import yaml

from policy_app.models import Draft, Policy, Version
from tests.policy_api.conftest import Caller

FILE = (Path(__file__).parents[1] / "inputs" / "ecm" / "policy.yaml").read_bytes()
DEFAULT = "policies/default"

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(call: Caller) -> Caller:
    def do(body: bytes, query: str = "", role: str = "editor", kind: str = "application/yaml") -> object:
        return call(role, "POST", f"{DEFAULT}/import{query}", body, kind=kind)

    return do


def test_export__as_json__is_the_canonical_content(call: Caller, policy: Policy) -> None:
    version = Version.objects.get(policy=policy)
    answer = call("read_key", "GET", f"{DEFAULT}/export?version=1")
    assert answer.content.decode() == version.content
    assert answer.headers["Content-Disposition"] == 'attachment; filename="default-v1.json"'
    assert call("read_key", "GET", f"{DEFAULT}/export?as=xml").json()["code"] == "bad_as"


def test_export__as_yaml__says_the_same_as_the_file_that_ships_with_ecm(call: Caller) -> None:
    answer = call("read_key", "GET", f"{DEFAULT}/export?as=yaml")
    ours, theirs = yaml.safe_load(answer.content), yaml.safe_load(FILE)
    assert (ours["zones"], ours["limits"], ours["rules"]) == (theirs["zones"], theirs["limits"], theirs["rules"])
    assert answer.content.startswith(b"# version 1, sha256 ")


def test_import__of_a_file__is_a_draft_with_what_was_left_out_in_words(send: Caller, call: Caller) -> None:
    checked = send(FILE, "?check=1")
    assert (checked.status_code, checked.json()["draft"]) == (200, None)
    assert Draft.objects.count() == 0
    answer = send(FILE.replace(b"red: 0.75", b"red: 0.65"), "?title=From+the+repository&reason=kept+there")
    told = answer.json()
    assert answer.status_code == 201
    assert (told["draft"]["title"], told["draft"]["table"]["zones"]["red"]) == ("From the repository", "0.65")
    assert any("audit was left out" in remark["text"] for remark in told["remarks"])
    assert "session_budget_and_compaction_count" in told["pins"]
    text = call("read_key", "GET", f"{DEFAULT}/export").content
    assert send(text, kind="application/json").status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        b"zones: {amber: 0.5, amber: 0.6}\n",
        b"zones: {amber: .nan, red: 0.75, critical: 0.9}\n",
        b"!!python/object/apply:os.system ['true']\n",
        b"rules: []\n",
        b"\xff\xfe\x00",
        b"{",
        b"\n",
    ],
)
def test_import__of_a_trap__is_400_and_says_what_is_wrong(send: Caller, body: bytes) -> None:
    answer = send(body)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_importable")
    assert [remark for remark in answer.json()["remarks"] if remark["severity"] == "blocks"]


def test_import__of_ten_megabytes__is_413(send: Caller) -> None:
    assert send(b"# x\n" * 2_500_000).status_code == 413
