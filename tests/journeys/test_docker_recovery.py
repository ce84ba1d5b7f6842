"""kill -9 of the orchestrator beside ten containers: what it left goes on, once. agents.md section 2.

Who runs is adopted and does all of its work, who only began or was being stopped is over, who waited for
its place is started. No container is left, and none of another installation is touched.
"""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import docker
import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_handle import remove_container
from orchestrator.runners.docker_leftovers import AGENT_LABEL, INSTANCE_LABEL
from tests.journeys.test_spawn_recovery import forget_agents, live, said, statuses
from tests.support.agent_image import IMAGE
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.spawned import agents_of, reply_of, rule, scenario, spawn

pytestmark = pytest.mark.docker

SHORT: Final = {"timeoutMs": 300_000}
LONG: Final = {"timeoutMs": 7_200_000}
AWAY_S: Final = 400.0
"""So much later, by the clock on the wall, is the start after a kill: what is short is over by then."""
DONE: Final = "one\n\ntwo"
ON_STANDARD_ERROR: Final = ("agent.log", "a line")
BEFORE_GO: Final[Counter[tuple[str, object]]] = Counter(
    [("agent.log", "one"), ON_STANDARD_ERROR, ("agent.log", "a note"), ("agent.progress", 40)]
)
TOLD: Final[Counter[tuple[str, object]]] = BEFORE_GO + Counter([("agent.log", "two"), ("agent.progress", 80)])
"""What is heard of an agent that did its `work` from the beginning to the end."""


def work(waits_for: str) -> list[dict[str, object]]:
    """What all but the quick and the deaf one do. waits_for: the file without which it stays half-way."""
    return [
        {"say": "one"},
        {"run": ["echo", "a line"]},
        {"event": {"type": "log", "level": "warn", "message": "a note"}},
        {"progress": 40},
        {"wait_for_file": waits_for},
        {"progress": 80},
        {"say": "two"},
    ]


def ten(*, deaf_ms: int) -> dict[str, object]:
    """A scenario in which one agent starts nine. deaf_ms: how long the one is given that has to be killed."""
    return scenario(
        rule(
            "ask around",
            {"say": "asking"},
            spawn("quick"),
            spawn("deaf", timeoutMs=deaf_ms),
            spawn("middle", wait="result", **LONG),
            spawn("gives up", **SHORT),
            spawn("stuck", **SHORT),
            spawn("done", **SHORT),
            *(spawn(f"late {n}", **LONG) for n in range(2)),
            {"wait_for_file": "go"},
            {"say": "asked"},
        ),
        rule("quick", {"say": "q"}),
        rule("deaf", {"ignore_sigterm": True}, {"say": "d"}, {"wait_for_file": "never"}),
        rule("middle", spawn("leaf", wait="result", **LONG), *work("go"), {"wait_for_file": "told"}),
        rule("gives up", *work("away"), {"exit": 3}),
        rule("done", *work("away")),
        rule("stuck", *work("never")),
        rule("late", *work("go")),
        rule("leaf", *work("go")),
    )


@pytest.fixture
async def stranger(docker_engine: Engine) -> AsyncIterator[str]:
    """The id of a container of another installation of Dovecote; removed at the end."""

    def start(client: docker.DockerClient) -> str:
        labels = {INSTANCE_LABEL: new_id("stranger"), AGENT_LABEL: new_id("agent")}
        container = client.api.create_container(
            IMAGE, entrypoint=["sleep", "infinity"], labels=labels, name=labels[AGENT_LABEL]
        )
        client.api.start(container["Id"])
        return str(container["Id"])

    container_id = await docker_engine.call(start)
    yield container_id
    await docker_engine.call(lambda client: remove_container(client, container_id))


async def test_whatever_ten_containers_were_doing_at_a_kill_each_does_its_work_once_or_is_over(
    home: HomeOnDisk, orchestrator: OrchestratorProcess, docker_engine: Engine, stranger: str
) -> None:
    """`DOVECOTE_KILLS=50` does it so often."""
    usual = {"agent__runner": "docker", "shutdown_grace_s": 0, "bounds__triggers_per_sender": 0}
    home.set(**usual, agent__stop_grace_s=60, queue__max_running=5)
    await home.add_group()
    of_strangers = await docker_engine.call(lambda client: state_of(client, stranger))
    for n in range(int(os.environ.get("DOVECOTE_KILLS", "1"))):
        home.play(ten(deaf_ms=1_500 + 500 * ((n + 5) % 8)))  # so that the kill comes now sooner, now later
        for name in ("away", "go", "told"):
            (home.workspace() / name).unlink(missing_ok=True)
        await orchestrator.start(ahead_s=AWAY_S * n)
        home.ask(f"ask around {n}")
        await mixed(home)
        await orchestrator.kill()
        ring = home.opened().paths.keys.read_bytes()
        before = {row["agent_id"]: row | {"said": said(home, row["agent_id"])} for row in agents_of(home)}
        home.set(**usual, agent__stop_grace_s=1, queue__max_running=5)
        (home.workspace() / "away").touch()
        await ended_while_away(home, docker_engine, before)
        await orchestrator.start(ahead_s=AWAY_S * (n + 1))
        over = {agent_id for agent_id, row in before.items() if row["status"] not in ("running", "pending")}
        assert not over & await docker_engine.call(lambda client: agents_in(home, client))
        await all_heard(home, before)
        (home.workspace() / "go").touch()
        await leaf_is_told_of(home)
        (home.workspace() / "told").touch()
        await eventually(lambda: not live(home), within_s=120, what=lambda: (statuses(home), home.story()))
        await home.quiet()
        assert home.opened().paths.keys.read_bytes() == ring  # FP13: else no token of before is good
        await orchestrator.stop()

        check(home, before)
        await eventually(lambda: nobody_in(home, docker_engine))
        await home.nothing_left()
        forget_agents(home)
        home.set(**usual, agent__stop_grace_s=60, queue__max_running=5)
        assert home.texts() == ["asking", "asked"] * (n + 1)
    assert await docker_engine.call(lambda client: state_of(client, stranger)) == of_strangers


async def mixed(home: HomeOnDisk) -> None:
    """Wait until agents wait for their place, run, are being stopped and have ended."""

    def is_mixed() -> bool:
        found = {row["task"]: row["status"] for row in agents_of(home)}
        return (
            len(found) == 9
            and {"pending", "running", "completed"} <= set(found.values())
            and found["deaf"] in ("stopping", "timed_out")
        )

    await eventually(is_mixed, within_s=120, what=lambda: (statuses(home), home.story()))


async def ended_while_away(home: HomeOnDisk, engine: Engine, before: Mapping[str, dict[str, Any]]) -> None:
    """Wait until those that have their file by now did their work, and the one that gives up has ended."""
    gives_up = {agent_id for agent_id, row in before.items() if is_running(row, "gives up")}
    done = {agent_id for agent_id, row in before.items() if is_running(row, "done")}

    def are_over(client: docker.DockerClient) -> bool:
        return not gives_up & agents_in(home, client, status="running") and all(
            b'"turn_ended"' in client.api.logs(agent_id, stderr=False) for agent_id in done
        )

    await eventually(lambda: engine.call(are_over), within_s=120)


def is_running(row: Mapping[str, Any], *tasks: str) -> bool:
    return row["task"] in tasks and row["status"] == "running"


async def all_heard(home: HomeOnDisk, before: Mapping[str, dict[str, Any]]) -> None:
    """Wait until all that the running print before they may go on is in the log of events."""
    tasks = ("middle", "leaf", "late 0", "late 1")
    running = [agent_id for agent_id, row in before.items() if is_running(row, *tasks)]

    def is_heard() -> bool:
        return all(told_of(home, agent_id) >= BEFORE_GO for agent_id in running)

    await eventually(is_heard, within_s=120, what=lambda: (running, home.story()))


async def leaf_is_told_of(home: HomeOnDisk) -> None:
    """Wait until the one that waits for the leaf's result has it in its box, unless it is over."""

    def is_told() -> bool:
        (middle,), (leaf,) = agents_of(home, task="middle"), agents_of(home, task="leaf")
        reply = reply_of(home, leaf["agent_id"], middle["box"])
        if not reply.exists():
            return middle["ended_ms"] is not None
        result = json.loads(reply.read_text())["result"]
        assert (result["status"], result["output"]) == ("completed", DONE)
        return True

    await eventually(is_told, within_s=120, what=lambda: (statuses(home), home.story()))


def state_of(client: docker.DockerClient, container_id: str) -> tuple[object, ...]:
    """Whether it runs and since when."""
    state = client.api.inspect_container(container_id)["State"]
    return state["Status"], state["StartedAt"], state["Pid"]


def agents_in(home: HomeOnDisk, client: docker.DockerClient, **filters: str) -> set[str]:
    """Whose containers there are of this home, running or not."""
    (instance,) = home.rows("SELECT value FROM facts WHERE name = 'instance'")
    wanted = f"{INSTANCE_LABEL}={instance['value']}"
    found = client.api.containers(all=True, filters={"label": wanted} | filters)
    return {each["Labels"][AGENT_LABEL] for each in found}


async def nobody_in(home: HomeOnDisk, engine: Engine) -> bool:
    return not await engine.call(lambda client: agents_in(home, client))


def check(home: HomeOnDisk, before: Mapping[str, dict[str, Any]]) -> None:
    """What had ended is unchanged, whoever ran or waited has done its work once, the others are over."""
    after = {row["agent_id"]: row for row in agents_of(home)}
    assert before.keys() == after.keys()
    for agent_id, was in before.items():
        now, words, told = after[agent_id], was.pop("said"), told_of(home, agent_id)
        if was["ended_ms"] is not None:
            assert now == was
        elif was["status"] in ("starting", "stopping"):
            assert (now["status"], now["exit_code"], now["output"]) == ("terminated", None, words)
            assert now["error"] == "Dovecote ended while it ran, and its work was not done by then."
        elif was["task"] == "stuck" or (was["task"] in ("done", "gives up") and was["status"] == "pending"):
            assert (now["status"], now["exit_code"]) == ("timed_out", None)
            assert now["output"] in ("", "one")
            assert told <= BEFORE_GO
        else:
            ended = ("failed", DONE, 3) if was["task"] == "gives up" else ("completed", DONE, 0)
            assert (now["status"], now["output"], now["exit_code"]) == ended, home.story()
            # Of standard error, what comes with an agent's end need not be waited for.
            assert told in (TOLD, TOLD - Counter([ON_STANDARD_ERROR]))


def told_of(home: HomeOnDisk, agent_id: str) -> Counter[tuple[str, object]]:
    """Of one agent, what it said and how far it said it was, as often as the log of events has it."""
    found = home.rows(
        "SELECT type, body ->> 'message' AS message, body ->> 'progress' AS progress FROM event_log"
        " WHERE agent_id = ? AND type IN ('agent.log', 'agent.progress')",
        agent_id,
    )
    return Counter(
        (row["type"], row["progress"] if row["message"] is None else row["message"]) for row in found
    )
