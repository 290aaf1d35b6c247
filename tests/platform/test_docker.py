"""What can be said about the containers without an engine: files that agree with each other."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ecm_site.embedded.options import ROOT

DOCKER = ROOT / "docker"
OURS = ("setup", "web", "worker", "beat")


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    assert isinstance(loaded, dict)
    return loaded


def test_compose__our_services__unprivileged_read_only_and_after_setup(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {*OURS, "postgres", "redis"}
    for name in OURS:
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert service["command"] == [name]
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"]["setup"]["condition"] == "service_completed_successfully"
        assert services[name]["healthcheck"]["test"] == ["CMD", "healthcheck", name]
        assert not {"ECM_ADMIN_PASSWORD", "ECM_INGEST_KEY", "ECM_ADMIN_KEY"} & set(services[name]["environment"])


def test_compose__network__only_the_web_port_and_only_on_loopback(compose: dict[str, Any]) -> None:
    assert compose["networks"]["backend"]["internal"] is True
    published = {name: s["ports"] for name, s in compose["services"].items() if "ports" in s}
    assert published == {"web": ["${ECM_BIND:-127.0.0.1}:${ECM_PORT:-8717}:8000"]}
    for name in ("postgres", "redis"):
        assert compose["services"][name]["networks"] == ["backend"]
        assert "healthcheck" in compose["services"][name]
    # Alerts go out from the worker.
    assert compose["services"]["worker"]["networks"] == ["backend", "out"]
    assert not (compose["networks"]["out"] or {}).get("internal")


def test_compose__variables__all_in_the_example(compose: dict[str, Any]) -> None:
    used = set(re.findall(r"\$\{([A-Z_]+)", (DOCKER / "compose.yaml").read_text()))
    offered = set(re.findall(r"^([A-Z_]+)=", (DOCKER / ".env.example").read_text(), re.MULTILINE))
    assert used == offered


def test_dockerfile__copies_and_user__files_exist_and_no_root() -> None:
    text = (DOCKER / "Dockerfile").read_text()
    for names in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        for name in names.split()[:-1]:
            assert (ROOT / name).exists(), name
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["10001:10001"]
    assert "--require-hashes" in text
    allowed = re.findall(r"^!(.+)$", (DOCKER / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for name in allowed)


@pytest.mark.parametrize(
    "script",
    ["docker/entrypoint", "docker/healthcheck", "docker/new-env", ".ci/run"]
    + [f"tools/{name}" for name in ("python", "lock", "run-tests", "run-checks", "install-system")],
)
def test_script__as_committed__executable_and_parsed_by_sh(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", path]).returncode == 0


def test_new_env__fresh_folder__private_filled_and_never_overwritten(tmp_path: Path) -> None:
    for name in ("new-env", ".env.example"):
        shutil.copy(DOCKER / name, tmp_path / name)
    subprocess.run([tmp_path / "new-env"], check=True, capture_output=True)
    written = tmp_path / ".env"
    first = written.read_text()
    assert written.stat().st_mode & 0o777 == 0o600
    secrets = dict(line.split("=", 1) for line in first.splitlines() if line.startswith(("ECM_", "POSTGRES_")))
    for name in ("ECM_SECRET_KEY", "POSTGRES_PASSWORD", "ECM_ADMIN_PASSWORD", "ECM_INGEST_KEY", "ECM_ADMIN_KEY"):
        assert len(secrets[name]) > 40
    assert len(set(secrets.values())) > 5
    subprocess.run([tmp_path / "new-env"], check=True, capture_output=True)
    assert written.read_text() == first


def test_operations__variables_of_settings__all_described() -> None:
    read = set()
    for path in (ROOT / "ecm_site").rglob("*.py"):
        read |= set(re.findall(r"\.(?:text|secret|flag|number|names)\(\s*[\"']([A-Z_]+)", path.read_text()))
    described = (ROOT / "docs" / "operations.md").read_text()
    assert {name for name in read if f"`{name}`" not in described} == set()
