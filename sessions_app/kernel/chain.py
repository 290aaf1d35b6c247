"""Causal order of what happened: a record follows its parent, whatever the clock says; else by time."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """Something that happened: its name, when it started (ms), the lines it wrote and the lines before it."""

    key: str
    at_ms: int
    uuids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


def parents_of(nodes: Sequence[Node], links: Mapping[str, str]) -> dict[str, str]:
    """For each node that has one, the nearest node before it in the chain of lines."""
    owner: dict[str, str | None] = {uuid: node.key for node in nodes for uuid in node.uuids}
    found: dict[str, str] = {}
    for node in nodes:
        keys = (_nearest(line, owner, links) for line in node.parents)
        parent = next((key for key in keys if key is not None and key != node.key), None)
        if parent is not None:
            found[node.key] = parent
    return found


def appended(
    nodes: Sequence[Node], links: Mapping[str, str], sizes: Mapping[str, int], parents: Mapping[str, str]
) -> dict[str, int]:
    """For each node with a parent: the sizes of the parent's own lines and of those between the two, summed up."""
    owner: dict[str, str | None] = {uuid: node.key for node in nodes for uuid in node.uuids}
    held: dict[str, int] = defaultdict(int)
    for line, size in sizes.items():
        key = _nearest(line, owner, links)
        if key is not None:
            held[key] += size
    return {child: held[parent] for child, parent in parents.items() if held[parent]}


def _nearest(start: str, owner: dict[str, str | None], links: Mapping[str, str]) -> str | None:
    """Whose line it is, or the nearest one before it; noted for the lines between, so that none is walked twice."""
    walked: dict[str, None] = {}
    line: str | None = start
    while line is not None and line not in owner and line not in walked:
        walked[line] = None
        line = links.get(line)
    key = None if line is None else owner.get(line)
    owner.update(dict.fromkeys(walked, key))
    return key


def ordered(nodes: Iterable[Node], parents: Mapping[str, str]) -> list[Node]:
    """Nodes so that each comes after its parent; among the free ones the earliest first."""
    by_key = {node.key: node for node in nodes}
    children: dict[str, list[Node]] = defaultdict(list)
    free: list[tuple[int, str]] = []
    for node in by_key.values():
        parent = parents.get(node.key)
        if parent is None or parent not in by_key:
            free.append((node.at_ms, node.key))
        else:
            children[parent].append(node)
    heapq.heapify(free)
    result: list[Node] = []
    while free:
        _, key = heapq.heappop(free)
        result.append(by_key.pop(key))
        for child in children[key]:
            heapq.heappush(free, (child.at_ms, child.key))
    # A forged chain may run in a circle: what is left over comes by time.
    return result + sorted(by_key.values(), key=lambda n: (n.at_ms, n.key))
