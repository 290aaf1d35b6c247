"""Order follows the chain of messages where there is one, and time where there is none."""

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.chain import Node, ordered, parents_of


def test_ordered__clock_set_back__chain_wins() -> None:
    nodes = [Node("a", 1_000, ("1",)), Node("b", 500, ("2",), ("1",)), Node("c", 2_000, ("3",), ("2",))]
    assert [n.key for n in ordered(nodes, parents_of(nodes, {}))] == ["a", "b", "c"]


def test_parents_of__lines_between_calls__found_through_links() -> None:
    nodes = [Node("a", 1, ("1",)), Node("b", 2, ("9",), ("8",))]
    assert parents_of(nodes, {"8": "7", "7": "1"}) == {"b": "a"}


def test_parents_of__links_in_a_circle__ends() -> None:
    nodes = [Node("a", 1, ("1",), ("5",))]
    assert parents_of(nodes, {"5": "6", "6": "5"}) == {}


def test_ordered__forged_circle__nothing_is_lost() -> None:
    nodes = [Node("a", 2, ("1",), ("2",)), Node("b", 1, ("2",), ("1",)), Node("c", 3, ("3",))]
    assert [n.key for n in ordered(nodes, parents_of(nodes, {}))] == ["c", "b", "a"]


@given(st.permutations([Node(str(n), n % 3, (f"u{n}",), (f"u{n - 2}",) if n > 1 else ()) for n in range(8)]))
def test_ordered__any_order_of_input__one_order(nodes: list[Node]) -> None:
    assert [n.key for n in ordered(nodes, parents_of(nodes, {}))] == [
        n.key for n in ordered(sorted(nodes, key=lambda n: n.key), parents_of(nodes, {}))
    ]


def test_parents_of__many_calls_after_one_long_chain__walked_once() -> None:
    """A body of the largest size holds such a chain; walking it anew for each call would take hours."""
    links = {str(n): str(n + 1) for n in range(20_000)}
    nodes = [Node(f"c{n}", n, (f"u{n}",), (str(n),)) for n in range(20_000)]
    assert parents_of([*nodes, Node("root", 0, ("20000",))], links) == {node.key: "root" for node in nodes}
