"""Joins: how two readings of one thing become one, whatever their order.

Every join is commutative, associative and idempotent, with None as its bottom. This is the one law
that makes repetition, order and splitting of deliveries harmless; `tests/kernel/test_readings.py` holds it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: A value with the rank by which it wins: the larger pair is kept, ties fall to the larger value.
type Ranked = tuple[int, str]


def largest[T: (int, str, Ranked, tuple[int, ...])](a: T | None, b: T | None) -> T | None:
    """The larger of two; also "last" when the values carry their rank."""
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)


def smallest[T: (int, str, Ranked)](a: T | None, b: T | None) -> T | None:
    """The smaller of two."""
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)


def union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """The sorted union of two sorted tuples."""
    return a if a == b else tuple(sorted({*a, *b}))


def by_key[T](inner: Callable[[T, T], T]) -> Callable[[Mapping[str, T], Mapping[str, T]], dict[str, T]]:
    """Join two mappings key by key."""

    def join(a: Mapping[str, T], b: Mapping[str, T]) -> dict[str, T]:
        small, large = (a, b) if len(a) < len(b) else (b, a)
        joined = dict(large)
        for key, value in small.items():
            joined[key] = inner(joined[key], value) if key in joined else value
        return joined

    return join


def gathered[T](inner: Callable[[T, T], T], maps: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Many mappings joined key by key."""
    joined: dict[str, T] = {}
    for one in maps:
        for key, value in one.items():
            joined[key] = inner(joined[key], value) if key in joined else value
    return joined


def join_fields[S](kind: type[S], rules: Mapping[str, Callable[[Any, Any], Any]], a: S, b: S) -> S:
    """Join two structs field by field; fields without a rule name the thing and are equal in both."""
    fields: tuple[str, ...] = kind.__struct_fields__  # type: ignore[attr-defined]
    return kind(
        **{
            name: rules[name](getattr(a, name), getattr(b, name)) if name in rules else getattr(a, name)
            for name in fields
        }
    )
