"""The bootstrap's choice of an interpreter; candidates are real files that are run."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ecm_site.embedded.options import ROOT


@pytest.fixture
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools" / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH and a pyenv of our own, both empty."""
    for name in ("bin", "more", "pyenv"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), str(tmp_path / "more")]))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def working(path: Path) -> Path:
    return script(path, f'exec {sys.executable} "$@"')


def claims(path: Path, version: str) -> Path:
    return script(path, f"echo {version}; echo {path}")


def test_find_python__first_name_is_a_dead_shim__next_folder_of_path_is_tried(
    bootstrap: ModuleType, machine: Path
) -> None:
    script(machine / "bin" / "python3.13", "exit 127")
    claims(machine / "more" / "python3.13", "3.13.9")
    assert bootstrap.find_python(None).path == str(machine / "more" / "python3.13")


def test_find_python__only_pyenv_holds_one__taken_newest_first(bootstrap: ModuleType, machine: Path) -> None:
    script(machine / "bin" / "python3", "exit 127")
    claims(machine / "bin" / "python3.12", "3.11.2")
    for version in ("3.9.18", "3.12.1", "3.13.0"):
        claims(machine / "pyenv" / "versions" / version / "bin" / "python3", version)
    found = bootstrap.find_python(None)
    assert (found.version, found.name) == ((3, 13, 0), "Python 3.13.0")


def test_find_python__a_real_one_behind_a_wrapper__its_own_path(bootstrap: ModuleType, machine: Path) -> None:
    working(machine / "bin" / "python3")
    assert bootstrap.find_python(None).version == sys.version_info[:3]


@pytest.mark.parametrize("version", ["3.11.9", "3.15.0", "2.7.18"])
def test_find_python__outside_of_the_range__none(bootstrap: ModuleType, machine: Path, version: str) -> None:
    claims(machine / "bin" / "python3", version)
    assert bootstrap.find_python(None) is None


def test_find_python__nothing_on_path__uv_is_asked_without_download(bootstrap: ModuleType, machine: Path) -> None:
    known = claims(machine / "elsewhere" / "python3", "3.12.7")
    uv = script(machine / "uv", f'[ "$UV_PYTHON_DOWNLOADS" = never ] && [ "$2" = find ] && echo {known}')
    assert bootstrap.find_python(str(uv)).version == (3, 12, 7)


def test_find_uv__one_that_does_not_run__passed_over(
    bootstrap: ModuleType, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "BOOT", str(machine / "boot"))
    script(machine / "bin" / "uv", "exit 126")
    good = script(machine / ".local" / "bin" / "uv", "echo uv 1")
    assert bootstrap.find_uv() == str(good)


def test_made__stamp_of_other_requirements__not_made(
    bootstrap: ModuleType, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "VENV", str(machine / "venv"))
    monkeypatch.setattr(bootstrap, "STAMP", str(machine / "venv" / "stamp"))
    monkeypatch.setattr(bootstrap, "REQUIREMENTS", str(machine / "dev.txt"))
    working(machine / "venv" / "bin" / "python")
    (machine / "dev.txt").write_text("one")
    python = bootstrap.probe(str(machine / "venv" / "bin" / "python"))
    (machine / "venv" / "stamp").write_text(bootstrap.stamp_text(python))
    assert bootstrap.made().path == python.path
    (machine / "dev.txt").write_text("two")
    assert bootstrap.made() is None


def test_requirements__as_committed__hashed_and_without_addresses() -> None:
    for name in ("base", "dev", "uv"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        assert "://" not in text
        pinned = [line for line in text.splitlines() if line and line[0].isalnum()]
        assert pinned
        assert all("==" in line and line.endswith("\\") for line in pinned)
