"""Nobody waits in a circle."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.agents.waits import closes_cycle

NODES = st.sampled_from("abcdefg")
EDGES = st.lists(st.tuples(NODES, NODES), max_size=15)


def reachable(edges: list[tuple[str, str]], start: str) -> set[str]:
    """All that `start` waits for, by and by: the closure, worked out by repetition."""
    found = {start}
    for _ in edges:
        found |= {after for before, after in edges if before in found}
    return found


@given(EDGES, st.tuples(NODES, NODES))
def test_a_wait_closes_a_circle_exactly_when_its_waiter_is_awaited_in_the_end(
    edges: list[tuple[str, str]], edge: tuple[str, str]
) -> None:
    waiter, awaited = edge

    path = closes_cycle(edges, edge)

    assert bool(path) is (waiter in reachable(edges, awaited))


@given(EDGES, st.tuples(NODES, NODES))
def test_the_path_goes_by_waits_that_are_there_from_the_waiter_round_to_it(
    edges: list[tuple[str, str]], edge: tuple[str, str]
) -> None:
    path = closes_cycle(edges, edge)

    steps = list(itertools.pairwise(path))
    assert all(step in [edge, *edges] for step in steps)
    if path:
        assert (path[0], path[-1], steps[0]) == (edge[0], edge[0], edge)
        assert len(set(path)) == len(path) - 1


@pytest.mark.parametrize(
    ("edges", "edge", "path"),
    [
        ([], ("a", "b"), ()),
        ([], ("a", "a"), ("a", "a")),
        ([("b", "a")], ("a", "b"), ("a", "b", "a")),
        ([("b", "c"), ("c", "a")], ("a", "b"), ("a", "b", "c", "a")),
        ([("b", "c"), ("c", "d")], ("a", "b"), ()),
        ([("b", "c"), ("c", "b")], ("a", "b"), ()),
    ],
    ids=["nobody else", "itself", "two", "three", "a chain", "a circle of others"],
)
def test_circles_of_one_two_and_three_are_found(
    edges: list[tuple[str, str]], edge: tuple[str, str], path: tuple[str, ...]
) -> None:
    assert closes_cycle(edges, edge) == path
