"""Secrets of this installation: made once, kept in a file that only its owner can read."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

KEPT = ("ECM_ADMIN_PASSWORD", "ECM_INGEST_KEY", "ECM_ADMIN_KEY")
HEADER = """# Of this ECM server. Only you can read this file; its values are used again at the next start.
# Sign in as "admin" at {url}/login
# Hosts send with the ingest key, scripts read and administer with the admin key.
"""


class Refused(Exception):
    """The installation could not be made; the text is what the command said."""


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What a start needs of the installation."""

    entry_path: str
    file: Path


def write_private(path: Path, text: str) -> None:
    """Replace a file by one with mode 0600; it is never readable by others, not even while it is written."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def secret_key_file(data: Path) -> Path:
    """The file with Django's secret key; made at the first start."""
    path = data / "secret-key"
    if not path.exists() or not path.read_text(encoding="utf-8").strip():
        write_private(path, secrets.token_urlsafe(50) + "\n")
    return path


def read_kept(file: Path) -> dict[str, str]:
    """NAME=value lines of an earlier start."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip() in KEPT and value.strip()}


def ensure(*, data: Path, root: Path, env: Mapping[str, str], given: Mapping[str, str], url: str) -> FirstRun:
    """Make organisation, administrator and keys where missing; a fresh entry link. Raises Refused.

    What the environment gives wins over what is kept; what neither has is made by the command.
    A kept password is not put in force again: it may have been changed since.
    """
    file = data / "first-run.txt"
    stated = {name: given[name] for name in KEPT if given.get(name)}
    known = read_kept(file) | stated
    asked = {name: value for name, value in known.items() if name != "ECM_ADMIN_PASSWORD" or name in stated}
    done = subprocess.run(
        [sys.executable, "manage.py", "first_run"],
        cwd=root,
        env={**env, **asked},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise Refused(done.stderr.strip()[-1_500:])
    told = json.loads(done.stdout.strip().splitlines()[-1])
    made = {name: told.get(name.removeprefix("ECM_").lower()) for name in KEPT}
    values = {name: made[name] or known.get(name) or "" for name in KEPT}
    write_private(file, HEADER.format(url=url) + "".join(f"{name}={value}\n" for name, value in values.items()))
    return FirstRun(entry_path=told["entry_path"], file=file)
