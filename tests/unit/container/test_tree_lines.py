"""A tree of agents as the built-in driver shows it."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.drivers.tree_lines import shown_agents, tree_lines

NOW = datetime.fromisoformat("2027-01-05T10:01:00.000Z")


def told(agent_id: str, parent: str | None, **fields: object) -> dict[str, object]:
    """An agent as the host tells of it."""
    usual = {"task": f"task of {agent_id}", "name": agent_id, "startedAt": "2027-01-05T10:00:48.000Z"}
    return {"id": agent_id, "parentAgentId": parent, "lifecycle": "running", **usual, **fields}


def test_children_stand_below_their_parent_with_how_they_stand_and_what_they_said() -> None:
    agents = shown_agents(
        {
            "agents": [
                told("root", "elsewhere", waitsFor=["a"]),
                told("a", "root", waitsFor=["c"]),
                told("b", "root", lifecycle="timed_out", error="Its time was over."),
                told("c", "a", lifecycle="completed", output="one\ntwo", endedAt="2027-01-05T10:05:48.000Z"),
            ]
        }
    )

    assert tree_lines(agents, now=NOW) == [
        "- **me**: waits for 1 helper",
        "  - **a**: task of a (waits for 1 helper, 12 s)",
        "    - **c**: task of c (completed, 5 min): one two",
        "  - **b**: task of b (timed out, 12 s): Its time was over.",
    ]


@pytest.mark.parametrize("broken", [{}, {"agents": None}, {"agents": [3, {}]}, {"agents": "x"}])
def test_an_answer_without_agents_is_an_empty_tree(broken: dict[str, object]) -> None:
    assert tree_lines(shown_agents(broken), now=NOW) == []


@given(st.lists(st.integers(min_value=0, max_value=40), max_size=50), st.integers(0, 10_000))
def test_each_agent_has_one_line_whatever_the_shape(parents: list[int], age_s: int) -> None:
    agents = shown_agents(
        {"agents": [told(f"n{n}", f"n{min(p, n - 1)}" if n else None) for n, p in enumerate(parents)]}
    )

    lines = tree_lines(agents, now=NOW + timedelta(seconds=age_s))

    assert len(lines) == len(agents)
    assert sorted(line.split("**")[1] for line in lines if "me" not in line) == sorted(
        agent.agent_id for agent in agents if agent.parent_id is not None
    )


def test_a_huge_tree_is_cut_and_says_so() -> None:
    agents = shown_agents({"agents": [told("root", None), *(told(f"n{n}", "root") for n in range(99))]})

    lines = tree_lines(agents, now=NOW)

    assert len(lines) == 61
    assert lines[-1] == "- … and 40 more"
