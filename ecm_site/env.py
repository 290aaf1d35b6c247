"""Typed readers of environment variables.

Order: the environment, then `NAME_FILE` (for secrets), then the file that a running `make up` keeps
in the data folder, then the default. An unreadable value is refused by name, never guessed.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

#: Written by `make up`, so that commands in a second terminal meet the same database.
KEPT_FILE = "running.env"
#: The few statements of a hook's path are worth preparing: planning them takes longer than running them.
PREPARE_AFTER = 5


class BadEnvironment(ValueError):
    """A variable holds something that its reader cannot use."""

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(f"Environment variable {name}: expected {expected}.")
        self.name = name


def load_kept(folder: Path) -> dict[str, str]:
    """NAME=value lines that a running `make up` left in `folder`; empty when there are none."""
    try:
        lines = (folder / KEPT_FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


class Env:
    """Variables of one process, with the kept file as the second source."""

    def __init__(self, values: Mapping[str, str], kept: Mapping[str, str] | None = None) -> None:
        self._values = values
        self._kept = kept or {}

    def text(self, name: str, default: str = "") -> str:
        """The value without surrounding space; an empty one counts as not set."""
        return self._values.get(name, "").strip() or self._kept.get(name, "") or default

    def secret(self, name: str, default: str = "") -> str:
        """Like `text`, but `NAME_FILE` may name a file that holds the value."""
        if self._values.get(name, "").strip():
            return self.text(name)
        path = self.text(f"{name}_FILE")
        if not path:
            return self.text(name, default)
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadEnvironment(f"{name}_FILE", "a file that can be read") from error

    def flag(self, name: str, default: bool = False) -> bool:
        """1/0, true/false, yes/no, on/off."""
        value = self.text(name).lower()
        if not value:
            return default
        if value in {"1", "true", "yes", "on"}:
            return True
        if value in {"0", "false", "no", "off"}:
            return False
        raise BadEnvironment(name, "1 or 0")

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
        """A whole number between `least` and `most`."""
        value = self.text(name)
        if not value:
            return default
        if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
            raise BadEnvironment(name, f"a whole number from {least} to {most}")
        return int(value)

    def names(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """Words separated by commas."""
        parts = [part.strip() for part in self.text(name).split(",")]
        return [part for part in parts if part] or list(default)


def process_env(data: Path) -> Env:
    """The environment of this process over what `make up` keeps in `data`."""
    return Env(os.environ, load_kept(data))


def database(url: str) -> dict[str, object]:
    """Django's settings for a PostgreSQL address.

    `postgres://user:pw@host:5432/name?sslmode=require`; a Unix socket as `?host=/folder` or
    as `postgres://%2Ffolder/name`. Every part may be percent-encoded. `prepare_threshold=off` for poolers
    that know no prepared statements.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise BadEnvironment("DATABASE_URL", "postgres://user:password@host:5432/name")
    try:
        port = parts.port
    except ValueError as error:
        raise BadEnvironment("DATABASE_URL", "a port between 1 and 65535") from error
    options: dict[str, object] = dict(parse_qsl(parts.query, keep_blank_values=True))
    options["prepare_threshold"] = _prepare(str(options.get("prepare_threshold", PREPARE_AFTER)))
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise BadEnvironment("DATABASE_URL", "the name of a database after the host")
    return {
        "ENGINE": "ecm_site.common.postgres",
        "NAME": name,
        "USER": options.pop("user", "") or unquote(parts.username or ""),
        "PASSWORD": options.pop("password", "") or unquote(parts.password or ""),
        "HOST": options.pop("host", "") or _host(parts.netloc),
        "PORT": options.pop("port", "") or (str(port) if port else ""),
        "OPTIONS": options,
    }


def _prepare(told: str) -> int | None:
    """After how many times a statement is prepared; None for never."""
    if told != "off" and not told.isdecimal():
        raise BadEnvironment("DATABASE_URL", "prepare_threshold=off, or a whole number")
    return None if told == "off" else int(told)


def _host(netloc: str) -> str:
    """The host with its case kept: `urlsplit().hostname` lowers it, which breaks socket folders."""
    place = netloc.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return unquote(place.partition(":")[0])


def broker(url: str, folder: Path) -> tuple[str, dict[str, object]]:
    """Celery's address and transport options; without a Redis, folders below `folder`."""
    if not url:
        places = {
            "data_folder_in": str(folder / "queue"),
            "data_folder_out": str(folder / "queue"),
            "processed_folder": str(folder / "processed"),
            "control_folder": str(folder / "control"),
            "store_processed": False,
            "polling_interval": 0.1,
        }
        return "filesystem://", places
    if url.startswith("unix://"):
        path = url.removeprefix("unix://").partition("?")
        return f"redis+socket://{path[0]}" + (f"?{path[2].replace('db=', 'virtual_host=')}" if path[2] else ""), {}
    if url.startswith(("redis://", "rediss://")):
        return url, {}
    raise BadEnvironment("REDIS_URL", "redis://host:6379/0, rediss://… or unix:///path/to/socket")
