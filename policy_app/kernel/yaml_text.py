"""YAML as people send it, read so that nothing is guessed and nothing can grow.

Every plain word stays the text that was written (`no`, `on`, `1.10`): what a value is, the reader of the field
decides. Only `~`, `null` and nothing at all are None. Anchors, tags, duplicate keys, keys that are not text, more
than one document and anything large are refused by name and line.
"""

import re
from typing import Any

import yaml

from policy_app.kernel.errors import BadText, Duplicate, Refused, TooLarge, WrongType

MOST_BYTES = 1_000_000
MOST_NODES = 20_000
MOST_DEPTH = 32


def read_yaml(source: str | bytes) -> object:
    """The one document of the source: dicts, lists, texts and None. Raises refusals whose field is `line N`."""
    text = _text_of(source)
    try:
        return _Reader(text).get_single_data()
    except Refused:
        raise
    except yaml.MarkedYAMLError as error:
        why = " ".join(part for part in (error.problem, error.context) if part)
        raise BadText(_place(error.problem_mark), "text", f"must be YAML ({why})") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise BadText("yaml", "text", "must be YAML") from error


def _text_of(source: str | bytes) -> str:
    size = len(source.encode("utf-8", "surrogatepass")) if isinstance(source, str) else len(source)
    if size > MOST_BYTES:
        raise TooLarge("yaml", f"{size} bytes", f"must have at most {MOST_BYTES} bytes")
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("yaml", "bytes", "must be UTF-8") from error


def _place(mark: Any) -> str:
    return "yaml" if mark is None else f"line {mark.line + 1}"


class _Reader(yaml.SafeLoader):
    """The safe loader without its guesses, its tags and its references."""

    yaml_implicit_resolvers: dict[Any, Any] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        loader: Any = self  # the stubs leave its events untyped
        event = loader.peek_event()
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise BadText(place, "an anchor or alias", "must be written out, without anchors and aliases")
        if event.tag is not None:
            raise BadText(place, event.tag, "must not use tags")
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise TooLarge(place, "more values", f"must hold at most {MOST_NODES} values")
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise TooLarge(place, "deeper nesting", f"must be nested at most {MOST_DEPTH} deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            place = _place(key_node.start_mark)
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise WrongType(place, key, "must have text as keys")
            if key in found:
                raise Duplicate(place, key, "must have each key once")
            found[key] = self.construct_object(value_node, deep=deep)
        return found


_Reader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
