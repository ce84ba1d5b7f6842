"""The lives of agents, told as they happen and read after the end of their tree. agents.md section 2."""

import json
from typing import Any

from tests.support.home_on_disk import HomeOnDisk
from tests.support.spawned import ended, rule, scenario, spawn

WAITS = {"wait_for_file": "go"}
LOGS = {"event": {"type": "log", "message": "reading", "level": "warn"}}


def told(home: HomeOnDisk) -> list[dict[str, Any]]:
    """Every event in the log, in the order in which things happened."""
    rows = home.rows("SELECT seq, type, agent_id, body FROM event_log ORDER BY position")
    return [{**json.loads(row["body"]), "seq": row["seq"], "agentId": row["agent_id"]} for row in rows]


async def test_the_life_of_a_tree_is_told_from_its_roots_start_to_its_end(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("say hello", wait="result"), WAITS, {"say": "asked"}),
            rule("say hello", {"progress": 40}, LOGS, {"say": "one"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (child,) = await ended(home, "say hello")
        (home.workspace() / "go").touch()
        await home.said("asked")
    events = told(home)

    (root,) = {each["agentId"] for each in events if each["type"] == "agent.started" and each["depth"] == 0}
    lives = [each for each in events if each["type"].startswith(("agent.", "spawn.", "tree."))]
    of_child = [each for each in lives if each["agentId"] == child["agent_id"]]
    assert [each["type"] for each in of_child] == [
        "spawn.nested",
        "agent.started",
        "agent.progress",
        "agent.log",
        "agent.log",
        "agent.completed",
    ]
    assert {each["parentAgentId"] for each in of_child} == {root}
    said = [(each["message"], each["level"]) for each in events if each["type"] == "agent.log"]
    assert said == [("reading", "warn"), ("one", "info"), ("asked", "info")]
    assert of_child[-1]["output"] == "one"
    assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
    assert {each["treeId"] for each in lives} == {lives[0]["treeId"]}
    (over,) = [each for each in lives if each["type"] == "tree.terminated"]
    assert (over["rootAgentId"], over["totalAgents"]) == (root, 2)
