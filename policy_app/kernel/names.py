"""Texts, ids and model patterns: cleaned once, compared in one spelling."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from policy_app.kernel.errors import BadText, WrongType

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def text_of(field: str, raw: object, *, most: int, empty: bool = False) -> str:
    """The text in NFC; refused where it is longer than `most`, or holds controls or lone surrogates."""
    if not isinstance(raw, str):
        raise WrongType(field, raw, "must be text")
    text = unicodedata.normalize("NFC", raw)
    if len(text) > most:
        raise BadText(field, f"text of {len(text)} characters", f"must have at most {most} characters")
    if not text.strip() and not empty:
        raise BadText(field, raw, "must not be empty")
    if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\t" for sign in text):
        raise BadText(field, raw, "must not hold control characters")
    return text


def id_of(field: str, raw: object) -> str:
    """An id: letters, digits, dots, dashes and underscores, at most 64."""
    text = text_of(field, raw, most=64)
    if not _ID.fullmatch(text):
        raise BadText(field, raw, "must be letters, digits, '.', '-' or '_', beginning with a letter or digit")
    return text


def twice(names: Iterable[str]) -> str | None:
    """The first name that comes a second time; None where all differ."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def plain_model(name: str) -> str:
    """A model's name as it is compared: lower case, dots as dashes (hosts spell `4.5` and `4-5` alike)."""
    return name.strip().lower().replace(".", "-")


@dataclass(frozen=True, slots=True)
class ModelPattern:
    """An exact model name, or the beginning of names when it ends in a star."""

    text: str

    def __post_init__(self) -> None:
        text = plain_model(text_of("model", self.text, most=120))
        if "*" in text[:-1]:
            raise BadText("model", self.text, "may have one star, at the end")
        object.__setattr__(self, "text", text)

    @property
    def is_prefix(self) -> bool:
        """Whether it stands for every name that begins like it."""
        return self.text.endswith("*")

    @property
    def stem(self) -> str:
        """The pattern without its star."""
        return self.text[:-1] if self.is_prefix else self.text

    def matches(self, model: str) -> bool:
        """Whether `model`, in any spelling, is meant."""
        name = plain_model(model)
        return name.startswith(self.stem) if self.is_prefix else name == self.text
