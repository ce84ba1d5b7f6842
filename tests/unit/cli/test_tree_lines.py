"""Trees of agents as people see them in a terminal."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.tree_lines import duration, status_of, tree_lines, tree_rows
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.contracts.wire.agent_words import queued_in_words

Plain = dict[str, Any]


def agent(agent_id: str, parent: str | None = None, **fields: object) -> Plain:
    return {
        "id": agent_id,
        "parentAgentId": parent,
        "name": None,
        "task": "Answer console:main",
        "lifecycle": "running",
        "activity": "busy",
        "waitsFor": [],
        "queuedBy": None,
        "progress": None,
        "elapsedMs": 4_000,
        "tokens": None,
        "costUsd": None,
        "lastLine": None,
        **fields,
    }


def tree(*agents: Plain, **fields: object) -> Plain:
    return {
        "treeId": "tree-1",
        "status": "active",
        "liveAgents": len(agents),
        "totalAgents": len(agents),
        "agents": list(agents),
        **fields,
    }


def test_a_row_shows_no_markdown() -> None:
    shown = tree_lines([tree(agent("agent-1", task="Say the **time**", lastLine="It is **03:08** now"))])

    assert any(line.endswith("Say the time · It is 03:08 now") for line in shown)


@pytest.mark.parametrize("reason", list(QueueReason))
def test_one_that_is_not_started_yet_says_why(reason: QueueReason) -> None:
    queued = agent("agent-2", "agent-1", lifecycle="pending", queuedBy=reason.value, task="Write tests")

    (row,) = [line for line in tree_lines([tree(agent("agent-1"), queued)]) if "agent-2" in line]

    assert " queued " in row
    assert " waits: " in row
    assert row.endswith(" · Write tests")
    assert queued_in_words(reason.value) != reason.value
    assert queued_in_words(reason.value)[:40] in row


def test_a_tree_shows_who_came_of_whom_what_each_does_since_when_and_for_how_much() -> None:
    shown = tree(
        agent("agent-1", activity="waiting_agent", waitsFor=["agent-2"], tokens=1_200, costUsd=0.02),
        agent(
            "agent-2",
            "agent-1",
            task="Write tests",
            lastLine="half\nway",
            progress=40,
            tokens=300,
            costUsd=0.01,
        ),
        agent("agent-4", "agent-2", task="Look", activity="none", lifecycle="failed", error="crashed"),
        agent("agent-3", "agent-1", task="Read", lifecycle="pending", activity="queued", elapsedMs=65_000),
    )

    assert tree_lines([shown]) == [
        "AGENT             STATUS              ELAPSED  TOKENS  USD     TASK · LAST LINE",
        "tree-1            active                       1,500   0.0300  4 live of 4",
        "└─ agent-1        waits for 1 helper  4 s      1,200   0.0200  Answer console:main",
        "   ├─ agent-2     running 40%         4 s      300     0.0100  Write tests · half way",
        "   │  └─ agent-4  failed              4 s                      Look · crashed",
        "   └─ agent-3     queued              1:05                     Read",
    ]


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (None, ""),
        (0, "0 s"),
        (59_999, "59 s"),
        (60_000, "1:00"),
        (3_599_000, "59:59"),
        (7_385_000, "2:03:05"),
    ],
)
def test_a_time_reads_as_people_say_it(ms: int | None, shown: str) -> None:
    assert duration(ms) == shown


def test_an_ended_agent_shows_how_it_ended() -> None:
    assert status_of(agent("agent-1", activity="none", lifecycle="timed_out")) == "timed out"


def test_eighty_columns_are_enough_for_ids_and_words_and_the_tree_says_what_it_used() -> None:
    long_id = "agent-{}{}".format("0" * 15, 1)
    shown = tree(
        agent(long_id, activity="waiting_agent", waitsFor=["x"], tokens=1_200, costUsd=0.02),
        agent("agent-2", long_id, name="helper 1", task="Write all of the tests", tokens=300, costUsd=0.01),
        treeId="tree-0000000000000001",
    )

    lines = tree_lines([shown], width=80)

    assert lines == [
        "AGENT                      STATUS              ELAPSED  TASK · LAST LINE",
        "tree-0000000000000001      active                       2 live of 2 · 1,500 tok…",
        "└─ agent-0000000000000001  waits for 1 helper  4 s      Answer console:main",
        "   └─ agent-2              running             4 s      helper 1: Write all of …",
    ]
    assert all(len(line) <= 80 for line in lines)


def test_trees_that_live_stand_before_those_that_are_over() -> None:
    over = {"liveAgents": 0, "status": "terminated"}
    trees = [
        tree(agent("a-1", lifecycle="completed", activity="none"), treeId="over", **over),
        tree(agent("a-2"), treeId="live"),
        tree(agent("a-3", lifecycle="stopping"), treeId="stopped", status="terminated"),
    ]

    rows = [row[:2] for row in tree_rows(trees) if row[0] in ("over", "live", "stopped")]

    assert rows == [("live", "active"), ("stopped", "stopping"), ("over", "ended")]


def test_tokens_without_a_known_price_are_no_zero() -> None:
    rows = tree_rows([tree(agent("agent-1", tokens=5))])

    assert [row[4] for row in rows[1:]] == ["?", "?"]


def test_what_an_agent_prints_cannot_change_the_terminal_or_the_table() -> None:
    lines = tree_lines([tree(agent("agent-1", lastLine="a\x1b[2Jb\nc\rd", task="x" * 500))])

    assert not any(sign in line for line in lines for sign in "\x1b\r\n")
    assert all(len(line) < 300 for line in lines)


@given(st.lists(st.integers(min_value=0, max_value=30), max_size=30))
def test_every_agent_of_any_tree_is_shown_once_below_its_parent(parents: list[int]) -> None:
    agents = [agent("a0")]
    for number, parent in enumerate(parents, start=1):
        agents.append(agent(f"a{number}", f"a{parent % number}"))

    names = [row[0] for row in tree_rows([tree(*agents)])[2:]]

    depth = {name.lstrip("│├└─ "): len(name) - len(name.lstrip("│├└─ ")) for name in names}
    order = [name.lstrip("│├└─ ") for name in names]
    assert sorted(order) == sorted(each["id"] for each in agents)
    for each in agents[1:]:
        assert order.index(each["parentAgentId"]) < order.index(each["id"])
        assert depth[each["id"]] == depth[each["parentAgentId"]] + 3


def test_an_agent_whose_parent_is_not_shown_stands_at_the_top() -> None:
    rows = tree_rows([tree(agent("agent-5", "agent-gone"))])

    assert rows[2][0] == "└─ agent-5"


def test_a_chain_of_a_thousand_agents_is_drawn() -> None:
    chain = [agent("a0"), *(agent(f"a{n}", f"a{n - 1}") for n in range(1, 1_000))]

    assert len(tree_lines([tree(*chain)])) == 1_002
