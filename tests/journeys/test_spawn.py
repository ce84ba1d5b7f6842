"""An agent starts agents: they run, what they say is their result, and their parent is told.

Source: agents.md section 2.
"""

import json

import pytest

from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.records.spawns import SpawnSpec
from orchestrator.runners.process_runner import ProcessRunner
from tests.support.eventually import eventually
from tests.support.flaky_runner import FlakyRunner
from tests.support.home_on_disk import HomeOnDisk
from tests.support.shifted_clock import ShiftedClock
from tests.support.spawned import MINUTE_MS, agents_of, ended, reply_of, rule, running, scenario, spawn

WAITS = {"wait_for_file": "go"}
SCRIPT = (
    "cd /workspace/group; echo a > out/a; echo b > notes.txt; cp old.txt out/seen; "
    "(echo x > old.txt) || echo no > out/refused; echo k > /workspace/scratch/kept"
)


async def test_l2_a_childs_texts_are_its_result_and_its_parent_finds_them_in_its_box(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("say hello", wait="result"), WAITS, {"say": "asked"}),
            rule("say hello", {"say": "one"}, {"say": "two"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (child,) = await ended(home, "say hello")
        reply = reply_of(home, child["agent_id"])
        await eventually(reply.exists, what=home.story)
        told = json.loads(reply.read_text())
        (home.workspace() / "go").touch()
        await home.said("asked")
        await home.quiet()

    assert (child["status"], child["output"], child["exit_code"]) == ("completed", "one\n\ntwo", 0)
    assert (told["requestId"], told["ok"]) == (child["agent_id"], True)
    assert told["result"]["status"] == "completed"
    assert told["result"]["output"] == "one\n\ntwo"
    assert agents_of(home) == [child]


async def test_l2_of_two_who_ask_each_finds_its_own_helpers_answer(home: HomeOnDisk) -> None:
    """Case L2: the answer went to whoever was there last, not to the one that had asked."""
    for folder in ("kitchen", "garden"):
        await home.add_group(folder)
        home.play(
            scenario(
                rule("ask around", spawn(f"look in {folder}", wait="result"), WAITS, {"say": "asked"}),
                rule(f"look in {folder}", {"wait_for_file": "look"}, {"say": f"seen in {folder}"}),
            ),
            folder,
        )

    async with home.running():
        home.ask("ask around")
        await running(home, "look in kitchen")
        home.ask("ask around", chat="file:garden")
        await running(home, "look in garden")
        for folder in ("kitchen", "garden"):
            (home.workspace(folder) / "look").touch()
        children = await ended(home, "look in kitchen", "look in garden")
        await eventually(
            lambda: len(list(home.path.glob("data/ipc/*/replies/agent-*.json"))) == 2, what=home.story
        )
        own = [reply_of(home, child["agent_id"], child["task"].split()[-1]) for child in children]
        told = [json.loads(path.read_text())["result"]["output"] if path.exists() else None for path in own]
        for folder in ("kitchen", "garden"):
            (home.workspace(folder) / "go").touch()
        await home.quiet()

    assert told == ["seen in kitchen", "seen in garden"]


async def test_l1_an_agent_whose_turn_is_over_stays_while_its_helpers_work(home: HomeOnDisk) -> None:
    """Case L1: the end of the leader's turn was the end of all that worked for it."""
    home.set(agent__idle_timeout_s=600)
    await home.add_group()
    asks = spawn("dig", timeoutMs=60 * MINUTE_MS)
    home.play(scenario(rule("ask around", asks, {"say": "asked"}), rule("dig", WAITS, {"say": "found"})))
    clock = ShiftedClock()

    async with home.running(clock=clock) as app:
        home.ask("ask around")
        await home.said("asked")
        await running(home, "dig")
        await home.quiet()
        await eventually(
            lambda: any(run.state.clock.has_children for run in app.agents.live), what=home.story
        )
        clock.advance(1_200)
        (home.workspace() / "go").touch()
        (child,) = await ended(home, "dig")
        (parent,) = home.rows("SELECT ended_ms FROM agents WHERE parent_agent_id IS NULL")

    assert (child["status"], child["output"]) == ("completed", "found")
    assert parent["ended_ms"] is None


@pytest.mark.bubblewrap
async def test_a_child_sees_its_parents_files_and_writes_only_where_it_may(home: HomeOnDisk) -> None:
    home.set(agent__runner="bubblewrap")
    await home.add_group()
    asks = spawn("write", wait="result", writablePaths=["out/", "notes.txt"])
    home.play(
        scenario(
            rule("ask around", {"write_file": {"path": "old.txt", "text": "mine"}}, asks, WAITS),
            rule("write", {"run": ["sh", "-c", SCRIPT]}, {"say": "done"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (child,) = await ended(home, "write")
        (home.workspace() / "go").touch()
        await home.quiet()

    assert (child["status"], child["output"]) == ("completed", "done"), child
    assert json.loads(child["files_modified"]) == ["notes.txt", "out/a", "out/refused", "out/seen"]
    assert (home.workspace() / "out" / "seen").read_text() == "mine"
    assert (home.workspace() / "out" / "refused").read_text() == "no\n"
    assert (home.workspace() / "old.txt").read_text() == "mine"
    assert (home.path / "data" / "workspaces" / f"@{child['agent_id']}" / "kept").exists()
    assert not (home.path / "data" / "sessions" / f"@{child['agent_id']}").exists()


@pytest.mark.parametrize("kind", [pytest.param("docker", marks=pytest.mark.docker), "process"])
async def test_a_childs_child_runs_and_deeper_than_allowed_nobody(
    home: HomeOnDisk, request: pytest.FixtureRequest, kind: str
) -> None:
    if kind == "docker":
        request.getfixturevalue("docker_engine")
    home.set(agent__runner=kind, shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("middle"), WAITS),
            rule("middle", spawn("leaf"), WAITS, {"say": "middle done"}),
            rule("leaf", spawn("too deep"), {"say": "leaf done"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (leaf,) = await ended(home, "leaf")
        (home.workspace() / "go").touch()
        (middle,) = await ended(home, "middle")
        await home.quiet()

    assert (middle["depth"], middle["output"], middle["status"]) == (1, "middle done", "completed")
    assert (leaf["depth"], leaf["output"], leaf["status"]) == (2, "leaf done", "completed")
    assert leaf["parent_agent_id"] == middle["agent_id"]
    assert agents_of(home, task="too deep") == []


async def test_a_parent_that_waits_lends_its_place_to_its_child_and_comes_back_above_the_limit(
    home: HomeOnDisk,
) -> None:
    home.set(queue__max_running=1, shutdown_grace_s=0)
    await home.add_group()
    await home.add_group("garden")
    home.play(
        scenario(
            rule("ask around", spawn("helper", wait="result"), WAITS, {"say": "asked"}),
            rule("helper", {"wait_for_file": "help"}, {"say": "helped"}),
        )
    )
    home.play(scenario(rule("hold", {"wait_for_file": "release"}, {"say": "held"})), "garden")

    async with home.running():
        home.ask("ask around")
        await running(home, "helper")
        home.ask("hold", chat="file:garden")
        (home.workspace() / "help").touch()
        await ended(home, "helper")
        (home.workspace() / "go").touch()
        await home.said("asked")
        (home.workspace("garden") / "release").touch()
        await home.said("held", chat="file:garden")
        await home.quiet()

    assert home.rows("SELECT * FROM waits") == []


async def test_a_helper_that_waits_for_a_place_says_which_bound_keeps_it_and_says_it_no_longer(
    home: HomeOnDisk,
) -> None:
    home.set(queue__max_running=1, shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("helper"), WAITS, {"say": "asked"}), rule("helper", {"say": "helped"})
        )
    )

    async with home.running() as app:
        home.ask("ask around")
        await eventually(lambda: list(app.services.queued_by.values()), what=home.story)
        (child,) = agents_of(home, task="helper")
        queued = (child["status"], dict(app.services.queued_by))
        (home.workspace() / "go").touch()
        await ended(home, "helper")
        await eventually(lambda: not app.services.queued_by, what=home.story)

    assert queued == ("pending", {child["agent_id"]: "max_running"})


async def test_who_waits_until_a_child_is_ready_is_told_then_and_again_at_its_end(home: HomeOnDisk) -> None:
    home.set(shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("helper", wait="ready"), WAITS),
            rule("helper", {"wait_for_file": "help"}, {"say": "helped"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (child,) = await running(home, "helper")
        reply = reply_of(home, child)
        await eventually(reply.exists, what=home.story)
        ready = json.loads(reply.read_text())["result"]["status"]
        waits = home.rows("SELECT * FROM waits")
        (home.workspace() / "help").touch()
        await ended(home, "helper")
        await eventually(lambda: json.loads(reply.read_text())["result"]["status"] == "completed")
        (home.workspace() / "go").touch()
        await home.quiet()

    assert (ready, waits) == ("running", [])


async def test_an_operators_agent_has_a_workspace_of_its_own_and_no_chat(home: HomeOnDisk) -> None:
    async with home.running() as app:
        answer = await spawn_for(app.services, OperatorCaller(), SpawnSpec(task="hello"))
        (row,) = await ended(home, "hello")

    workspace = home.path / "data" / "workspaces" / str(answer["agentId"])
    assert (row["status"], row["output"], row["depth"]) == ("completed", "re: hello", 0)
    assert workspace.is_dir()
    assert row["workspace"] == str(workspace)
    assert json.loads(row["files_modified"]) == []
    assert home.texts("console:main") == []


async def test_a_child_without_the_chat_can_ask_nobody_there_and_goes_on(home: HomeOnDisk) -> None:
    home.set(shutdown_grace_s=0)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("helper"), WAITS),
            rule("helper", {"ask": "May I?"}, {"say": "told {answer}"}),
        )
    )

    async with home.running():
        home.ask("ask around")
        (child,) = await ended(home, "helper")
        (home.workspace() / "go").touch()
        await home.quiet()

    assert child["output"] == "told (refused)"


async def test_a_child_that_can_not_be_started_fails_with_the_reason(home: HomeOnDisk) -> None:
    real = ProcessRunner(programs_directory=home.opened().paths.programs)
    flaky = FlakyRunner(real)
    async with home.running(runner=(flaky, "as a test says")) as app:
        await spawn_for(app.services, OperatorCaller(), SpawnSpec(task="hello"))
        (row,) = await ended(home, "hello")

    assert (row["status"], row["exit_code"], row["error"]) == ("failed", None, "The engine is broken.")
    assert home.texts("console:main") == []
