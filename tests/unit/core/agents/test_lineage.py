"""Who comes from whom, for any parents whatsoever."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId
from orchestrator.core.agents.lineage import orphans, stop_order, subtree

Parents = Mapping[AgentId, AgentId | None]
NAMES = st.sampled_from([AgentId(f"a{number}") for number in range(8)])
ANY_PARENTS = st.dictionaries(NAMES, st.none() | NAMES, max_size=8)
"""Any shape: also circles, and parents that nobody knows."""


@st.composite
def trees(draw: st.DrawFn) -> Parents:
    """A proper tree: each but the first has a parent that was there before."""
    parents: dict[AgentId, AgentId | None] = {AgentId("a0"): None}
    for number in range(1, draw(st.integers(1, 12))):
        parents[AgentId(f"a{number}")] = draw(st.sampled_from(sorted(parents)))
    return parents


def chain_of(parents: Parents, node: AgentId) -> list[AgentId]:
    """The node and its ancestors, by a way of its own."""
    found = [node]
    while (parent := parents.get(found[-1])) is not None and parent not in found:
        found.append(parent)
    return found


@given(trees(), st.data())
def test_a_subtree_is_all_whose_ancestors_hold_its_root(parents: Parents, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(sorted(parents)))

    found = subtree(parents, root)

    assert set(found) == {node for node in parents if root in chain_of(parents, node)}
    assert len(found) == len(set(found))


@given(trees(), st.data())
def test_who_is_stopped_goes_before_its_parent(parents: Parents, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(sorted(parents)))

    order = stop_order(parents, root)

    places = {node: place for place, node in enumerate(order)}
    assert order[-1] == root
    assert all(places[node] < places[parents[node] or root] for node in order if node != root)


@given(ANY_PARENTS, NAMES)
def test_whatever_the_parents_say_it_ends_and_names_nobody_twice(parents: Parents, root: AgentId) -> None:
    found = subtree(parents, root)

    assert len(found) == len(set(found))
    assert set(found) <= set(parents)
    assert (root in found) is (root in parents)
    assert sorted(stop_order(parents, root)) == sorted(found)


@given(ANY_PARENTS, st.sets(NAMES))
def test_an_orphan_lives_and_its_parent_does_not(parents: Parents, live: set[AgentId]) -> None:
    found = set(orphans(parents, live))

    assert found <= live
    for node in parents:
        parent = parents[node]
        assert (node in found) is (node in live and parent is not None and parent not in live)


@pytest.mark.parametrize(
    ("parents", "root", "order"),
    [
        ({"r": None}, "r", ("r",)),
        ({"r": None, "a": "r", "b": "a", "c": "r"}, "r", ("b", "c", "a", "r")),
        ({"r": None, "a": "r", "b": "a", "c": "r"}, "a", ("b", "a")),
        ({"r": None}, "unknown", ()),
        ({"a": "b", "b": "a"}, "a", ("b", "a")),
        ({"child": "gone", "below": "child"}, "child", ("below", "child")),
    ],
    ids=["alone", "three levels", "an inner one", "unknown", "a circle", "a parent nobody knows"],
)
def test_the_deepest_are_stopped_first(
    parents: Mapping[str, str | None], root: str, order: tuple[str, ...]
) -> None:
    assert stop_order(parents, root) == order
