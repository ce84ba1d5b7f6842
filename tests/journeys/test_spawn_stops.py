"""Agents of agents are stopped: by wish, by their time, by the end of who started them.

Source: agents.md section 2.
"""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.app.doors import App
from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import SpawnSpec, StopReason, StopVerdict
from orchestrator.engine.agent_stops import AgentStops
from orchestrator.runners.process_runner import ProcessRunner
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.shifted_clock import ShiftedClock
from tests.support.spawned import agents_of, ended, rule, running, scenario, spawn
from tests.support.stubborn_runner import StubbornRunner

FOREVER = {"wait_for_file": "never"}
DEAF = {"ignore_sigterm": True}


def kinds_of(home: HomeOnDisk, agent_id: str) -> list[str]:
    """The types of the events of one agent, in order."""
    found = home.rows("SELECT type FROM event_log WHERE agent_id = ? ORDER BY position", agent_id)
    return [row["type"] for row in found]


async def stop(app: App, agent_id: str) -> dict[str, list[str]]:
    """What the operator's stop of an agent says of it and of those below it."""
    outcome = await stop_cascade(app.services, OperatorCaller(), AgentId(agent_id))
    return {
        "terminated": list(outcome.terminated),
        "failed": [each.agent_id for each in outcome.failed],
        "skipped": list(outcome.skipped),
    }


async def test_a_stop_takes_all_that_came_of_an_agent_the_deepest_first_also_one_that_is_deaf(
    home: HomeOnDisk,
) -> None:
    home.set(agent__stop_grace_s=0.2, shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("middle"), FOREVER),
            rule("middle", spawn("leaf"), FOREVER),
            rule("leaf", DEAF, {"say": "deaf"}, FOREVER),
        )
    )

    async with home.running() as app:
        home.ask("ask around")
        middle, leaf = await running(home, "middle", "leaf")
        await eventually(lambda: home.rows("SELECT 1 FROM spawn_texts"), what=home.story)
        outcome = await stop(app, middle)
        again = await stop(app, middle)
        rows = await ended(home, "middle", "leaf")

    assert outcome == {"terminated": [leaf, middle], "failed": [], "skipped": []}
    assert again == {"terminated": [], "failed": [], "skipped": [middle, leaf]}
    assert [row["status"] for row in rows] == ["terminated", "terminated"]
    assert [row["stop_reason"] for row in rows] == ["manual", "cascade"]
    assert rows[1]["ended_ms"] <= rows[0]["ended_ms"]
    assert kinds_of(home, middle)[-2:] == ["agent.terminated", "terminate.cascade"]


async def test_an_agent_whose_time_is_over_is_timed_out_and_its_children_go_with_it(home: HomeOnDisk) -> None:
    home.set(shutdown_grace_s=0, typing_renew_s=0.5)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("middle", timeoutMs=600_000), FOREVER),
            rule("middle", spawn("leaf", timeoutMs=6_000_000), {"say": "so far"}, FOREVER),
            rule("leaf", FOREVER),
        )
    )
    clock = ShiftedClock()

    async with home.running(clock=clock):
        home.ask("ask around")
        await running(home, "middle", "leaf")
        await eventually(lambda: home.rows("SELECT 1 FROM spawn_texts"), what=home.story)
        clock.advance(601)
        middle, leaf = await ended(home, "middle", "leaf")

    assert (middle["status"], middle["exit_code"], middle["output"]) == ("timed_out", None, "so far")
    assert middle["error"] == "It took longer than it may: 600000 ms."
    assert leaf["status"] in ("timed_out", "terminated")
    assert leaf["capped_by"] == "parent_deadline"
    assert leaf["deadline_ms"] <= middle["deadline_ms"]


async def test_a_time_that_is_over_before_it_can_be_started_is_a_timeout_too(home: HomeOnDisk) -> None:
    async with home.running() as app:
        await spawn_for(app.services, OperatorCaller(), SpawnSpec(task="too late", timeout_ms=1))
        (row,) = await ended(home, "too late")

    assert (row["status"], row["exit_code"]) == ("timed_out", None)


async def test_l1_when_a_parent_ends_each_child_meets_what_was_agreed(home: HomeOnDisk) -> None:
    await home.add_group()
    policies = ("stop", "request_stop", "detach")
    home.play(
        scenario(
            rule("ask around", spawn("middle", permissions={"detach": True}), FOREVER),
            rule(
                "middle",
                *(spawn(f"leaf {policy}", onParentExit=policy) for policy in policies),
                {"wait_for_file": "end"},
            ),
            rule("leaf", FOREVER),
        )
    )

    async with home.running():
        home.ask("ask around")
        await running(home, "middle", *(f"leaf {policy}" for policy in policies))
        (home.workspace() / "end").touch()
        _, stopped, asked = await ended(home, "middle", "leaf stop", "leaf request_stop")
        (detached,) = agents_of(home, task="leaf detach")
        (home.workspace() / "never").touch()
        (left,) = await ended(home, "leaf detach")

    assert [row["status"] for row in (stopped, asked)] == ["terminated", "terminated"]
    assert [row["stop_reason"] for row in (stopped, asked)] == ["cascade", "cascade"]
    assert [row["end_reason"] for row in (stopped, asked)] == ["stopped", "exited"]
    assert asked["exit_code"] is None
    assert detached["status"] == "running"
    assert left["status"] == "completed"


async def test_a_parent_that_is_killed_takes_its_children_with_it_and_the_audit_has_it(
    home: HomeOnDisk,
) -> None:
    home.set(shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("middle"), FOREVER),
            rule("middle", spawn("leaf"), FOREVER),
            rule("leaf", FOREVER),
        )
    )

    async with home.running():
        home.ask("ask around")
        middle, leaf = await running(home, "middle", "leaf")
        os.kill(pid_of(middle), signal.SIGKILL)
        killed, orphan = await ended(home, "middle", "leaf")

    assert (killed["status"], killed["exit_code"]) == ("failed", 137)
    assert killed["error"] == "Its process ended with 137 before its work was done."
    assert (orphan["status"], orphan["stop_reason"]) == ("terminated", "cascade")
    assert "terminate.cascade" in kinds_of(home, leaf)


def pid_of(agent_id: str) -> int:
    """The agent runner of an agent: the child of the lifeline that bears its name."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and agent_id.encode() in _words(each):
            children = (each / "task" / each.name / "children").read_text().split()
            return int(children[0])
    raise AssertionError(f"{agent_id} has no process")


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


async def test_a_kill_that_fails_is_told_as_failed_until_it_did_not(home: HomeOnDisk) -> None:
    home.set(agent__stop_grace_s=0.2, shutdown_grace_s=0)
    await home.add_group()
    home.play(scenario(rule("ask around", spawn("leaf"), FOREVER), rule("leaf", DEAF, FOREVER)))
    real = ProcessRunner(programs_directory=home.opened().paths.programs)

    async with home.running(runner=(StubbornRunner(real, refusals=2), "as a test says")) as app:
        home.ask("ask around")
        (leaf,) = await running(home, "leaf")
        stops = AgentStops(app.services, app.agents.run_of, beyond_grace_s=0.1)
        (outcome,) = await stops.stop([AgentId(leaf)], StopReason.MANUAL)
        (then,) = agents_of(home, task="leaf")
        (row,) = await ended(home, "leaf")

    assert outcome.verdict is StopVerdict.FAILED
    assert outcome.error == ("It was told to stop and is not gone yet. The engine refuses to kill it.")
    assert then["ended_ms"] is None
    assert row["status"] == "terminated"


@pytest.mark.bubblewrap
async def test_a_fork_bomb_is_bounded_and_goes_with_its_agent(home: HomeOnDisk) -> None:
    home.set(agent__runner="bubblewrap", agent__stop_grace_s=0.2, agent__processes=64, shutdown_grace_s=0)
    await home.add_group()
    bomb = "b() { sleep 300 & b | b & }; b; wait"
    home.play(
        scenario(
            rule("ask around", spawn("bomb"), FOREVER),
            rule("bomb", DEAF, {"say": "lit"}, {"run": ["sh", "-c", bomb]}, FOREVER),
        )
    )

    async with home.running() as app:
        home.ask("ask around")
        (leaf,) = await running(home, "bomb")
        await eventually(lambda: home.rows("SELECT 1 FROM spawn_texts"), what=home.story)
        outcome = await stop(app, leaf)
        (row,) = await ended(home, "bomb")

    assert outcome["terminated"] == [leaf]
    assert row["status"] == "terminated"


async def test_a_failed_child_takes_nobody_elses_scratch_with_it(home: HomeOnDisk) -> None:
    home.set(shutdown_grace_s=0)
    await home.add_group()
    keep = {"run": ["sh", "-c", "mkdir -p $DOVECOTE_SCRATCH; echo mine > $DOVECOTE_SCRATCH/work"]}
    home.play(
        scenario(
            rule("ask around", spawn("sibling"), spawn("crash"), FOREVER),
            rule("sibling", keep, {"wait_for_file": "end"}),
            rule("crash", keep, {"exit": 3}),
        )
    )
    scratch = home.path / "data" / "workspaces"

    async with home.running():
        home.ask("ask around")
        (sibling,) = await running(home, "sibling")
        (crashed,) = await ended(home, "crash")
        kept = [scratch / f"@{each}" / "work" for each in (sibling, crashed["agent_id"])]
        await eventually(lambda: all(each.exists() for each in kept), what=home.story)
        (home.workspace() / "end").touch()
        (row,) = await ended(home, "sibling")

    assert (crashed["status"], crashed["exit_code"]) == ("failed", 3)
    assert row["status"] == "completed"
    assert [each.read_text() for each in kept] == ["mine\n", "mine\n"]


@pytest.mark.bubblewrap
@pytest.mark.parametrize("whole", [True, False], ids=["a tree", "a part of one"])
async def test_spawns_hammered_while_their_tree_stops_leave_no_survivor(
    home: HomeOnDisk, request: pytest.FixtureRequest, *, whole: bool
) -> None:
    """`DOVECOTE_HAMMERS=200` does it so often, `DOVECOTE_RUNNER=docker` under another runner."""
    kind = os.environ.get("DOVECOTE_RUNNER", "bubblewrap")
    if kind == "docker":
        request.getfixturevalue("docker_engine")
    limits = {"spawn__per_minute": 1_000, "spawn__max_spawns_per_tree": 1_000}
    home.set(
        agent__runner=kind,
        agent__stop_grace_s=0.2,
        shutdown_grace_s=0,
        workspaces__roots=[str(home.path.parent / "project")],
        **limits,
    )
    project = project_with(
        home,
        scenario(
            rule("hammer", {"run": ["sh", "-c", HAMMER]}, FOREVER),
            rule("leaf", DEAF, FOREVER),
            rule("hold", FOREVER),
        ),
    )

    async with home.running() as app:
        above: list[str] = []
        if not whole:  # its tree goes on: nothing but its own state forbids it to start another
            hold = SpawnSpec(task="hold", workspace_path=str(project))
            above.append(str((await spawn_for(app.services, OperatorCaller(), hold))["agentId"]))
            await running(home, "hold")
        parent = AgentId(above[0]) if above else None
        for n in range(int(os.environ.get("DOVECOTE_HAMMERS", "1"))):
            spec = SpawnSpec(task=f"hammer {n}", workspace_path=str(project))
            top = await spawn_for(app.services, OperatorCaller(), spec, parent=parent)
            await eventually(
                lambda: len(live(home)) >= 3 + len(above), what=lambda: (agents_of(home), home.story())
            )
            outcome = await stop_cascade(app.services, OperatorCaller(), AgentId(str(top["agentId"])))
            assert outcome.failed == (), (outcome, agents_of(home), home.logs())
            assert live(home) == above
            if whole:
                await eventually(lambda: not home.boxes(), what=home.boxes)
                assert [each for each in home.processes() if "agent_runner" in each] == []


HAMMER = (
    'cd "$DOVECOTE_BOX/agents"; n=0; while :; do n=$((n+1)); '
    'echo \'{"type":"spawn_agent","task":"leaf"}\' > .$$-$n.tmp; mv .$$-$n.tmp h$n.json; sleep 0.02; done'
)


def project_with(home: HomeOnDisk, played: Mapping[str, object]) -> Path:
    """A directory beside the home, with what agents do there."""
    path = home.path.parent / "project"
    path.mkdir(mode=0o755)
    (path / "scenario.yaml").write_text(json.dumps(played))
    (path / "scenario.yaml").chmod(0o644)
    return path


def live(home: HomeOnDisk) -> list[str]:
    """The agents whose records say that they have not ended."""
    return [row["agent_id"] for row in home.rows("SELECT agent_id FROM agents WHERE ended_ms IS NULL")]
