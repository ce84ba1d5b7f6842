"""Agents of agents that are started again, or just not, also over a kill of the orchestrator.

Source: agents.md section 2.
"""

import json
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.spawns import OnParentExit, RestartPolicy, SpawnSpec, StopReason
from orchestrator.runners.docker_engine import Engine
from orchestrator.store import agents, spawns
from orchestrator.store.transaction import Transaction
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.spawned import agents_of, ended, reply_of, rule, running, scenario, spawn

FOREVER = {"wait_for_file": "never"}


async def test_one_that_dies_is_started_again_and_its_parent_waits_for_the_end_of_its_last_attempt(
    home: HomeOnDisk,
) -> None:
    home.set(spawn__restart_intensity=1)
    await home.add_group()
    again = {"restartPolicy": "on_failure", "wait": "result"}
    home.play(
        scenario(
            rule("ask around", spawn("wobbly", **again), spawn("hopeless", **again), FOREVER),
            rule("wobbly", spawn("leaf"), {"wait_for_file": "leaf runs"}, {"exit": 7}) | {"times": 1},
            rule("wobbly", {"wait_for_file": "go"}, {"say": "done"}),
            rule("hopeless", {"exit": 7}),
            rule("leaf", {"write_file": {"path": "leaf runs", "text": ""}}, FOREVER),
        )
    )

    async with home.running():
        home.ask("ask around")
        (leaf,) = await ended(home, "leaf")
        (home.workspace() / "go").touch()
        wobbly, hopeless = await ended(home, "wobbly", "hopeless")
        replies = [reply_of(home, row["agent_id"]) for row in (wobbly, hopeless)]
        await eventually(lambda: all(each.exists() for each in replies), what=home.story)
        told = [json.loads(each.read_text())["result"] for each in replies]
        (home.workspace() / "never").touch()
        await home.quiet()

    assert (wobbly["status"], wobbly["output"], wobbly["restarts"]) == ("completed", "done", 1)
    assert (hopeless["status"], hopeless["exit_code"], hopeless["restarts"]) == ("failed", 7, 1)
    assert hopeless["error"].startswith("It was started again 1 time within 300 s, which is the most")
    assert (leaf["status"], leaf["stop_reason"]) == ("terminated", "cascade")
    assert [each["status"] for each in told] == ["completed", "failed"]
    assert told[1]["error"] == hopeless["error"]
    kinds = [row["type"] for row in home.rows("SELECT type FROM event_log WHERE type LIKE 'agent.restart%'")]
    assert sorted(kinds) == ["agent.restarted", "agent.restarted", "agent.restarts_given_up"]


@pytest.mark.bubblewrap
async def test_of_those_that_died_with_the_orchestrator_only_one_that_nobody_had_asked_to_stop_begins_again(
    home: HomeOnDisk,
) -> None:
    home.set(agent__runner="bubblewrap", spawn__restart_intensity=1)
    async with home.running():
        pass
    wish: dict[str, Any] = {
        "restart_policy": RestartPolicy.ON_FAILURE,
        "on_parent_exit": OnParentExit.REQUEST_STOP,
    }
    async with open_store_services(home.opened()) as services:
        for task in ("hello", "asked"):
            answer = await spawn_for(services, OperatorCaller(), SpawnSpec(task=task, **wish))
            agent_id, at = AgentId(str(answer["agentId"])), services.clock.now()
            await services.db.run(partial(begin, agent_id, is_asked=task == "asked", at=at))

    async with home.running():
        hello, asked = await ended(home, "hello", "asked")

    assert (hello["status"], hello["output"], hello["restarts"]) == ("completed", "re: hello", 1)
    assert (asked["status"], asked["stop_reason"], asked["restarts"]) == ("terminated", "cascade", 0)


def begin(agent_id: AgentId, tx: Transaction, *, is_asked: bool, at: datetime) -> None:
    """What the store says of an agent that runs, and may have been asked to stop, when all is killed."""
    assert agents.claim(tx, agent_id, runner="bubblewrap", provider="script", at=at)
    assert agents.move(tx, agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
    if is_asked:
        assert agents.move(tx, agent_id, was=AgentStatus.RUNNING, now=AgentStatus.STOPPING)
        spawns.note_stop(tx, agent_id, StopReason.CASCADE, stopped_by=None)


@pytest.mark.docker
async def test_a_container_that_was_asked_to_stop_before_a_kill_is_not_adopted_after_it(
    home: HomeOnDisk, orchestrator: OrchestratorProcess, docker_engine: Engine
) -> None:
    home.set(agent__runner="docker", agent__stop_grace_s=0.2)
    await home.add_group()
    asked = {"onParentExit": "request_stop", "restartPolicy": "always"}
    home.play(
        scenario(
            rule("ask around", spawn("leaf", **asked), {"wait_for_file": "end"}, {"exit": 1}),
            rule("leaf", {"ignore_sigterm": True}, {"say": "deaf"}, {"wait_for_file": "never"}),
        )
    )
    await orchestrator.start()
    home.ask("ask around")
    await running(home, "leaf")
    await eventually(lambda: home.rows("SELECT 1 FROM spawn_texts"), what=home.story)
    (home.workspace() / "end").touch()
    await eventually(lambda: agents_of(home, task="leaf")[0]["status"] == "stopping", what=home.story)

    await orchestrator.kill()
    await orchestrator.start()
    (leaf,) = await ended(home, "leaf")

    assert (leaf["status"], leaf["stop_reason"], leaf["restarts"]) == ("terminated", "cascade", 0)
    assert (leaf["output"], leaf["error"]) == (
        "deaf",
        "It was stopped with what had started it.",
    )
    assert home.logs("agent.adopted") == []
    await eventually(lambda: not docker_engine.run(home.containers_now), what=home.story)
