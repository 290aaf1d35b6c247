"""Taking JSON values apart: each reader names the field that it refuses."""

from collections.abc import Mapping, Sequence
from typing import Any

from policy_app.kernel.errors import UnknownName, WrongType


def object_of(field: str, raw: object, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    """A JSON object; with `known`, every other key is refused."""
    if not isinstance(raw, Mapping):
        raise WrongType(field, raw, "must be an object")
    for key in raw:
        if not isinstance(key, str):
            raise WrongType(field, key, "must have text as keys")
        if known is not None and key not in known:
            raise UnknownName(f"{field}.{key}", key, f"must be one of {', '.join(known)}")
    return raw


def list_of(field: str, raw: object) -> Sequence[object]:
    """A JSON array; None is an empty one."""
    if raw is None:
        return ()
    if isinstance(raw, str) or not isinstance(raw, Sequence):
        raise WrongType(field, raw, "must be a list")
    return raw


def text(field: str, raw: object) -> str:
    """A JSON string."""
    if not isinstance(raw, str):
        raise WrongType(field, raw, "must be text")
    return raw


def flag(field: str, raw: object) -> bool:
    """A JSON boolean."""
    if not isinstance(raw, bool):
        raise WrongType(field, raw, "must be true or false")
    return raw
