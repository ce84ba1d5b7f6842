"""kill -9 of the orchestrator while agents of agents run: afterwards each has one true state.

Source: agents.md section 2.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import SpawnSpec, WaitFor
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import spawns, waits
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait
from tests.edges.store_tables.test_lineage import record
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.spawned import agents_of, ended, rule, running, scenario, spawn
from tests.support.store_rows import NOON

MIXED = scenario(
    rule(
        "ask around",
        spawn("quick"),
        spawn("deaf", timeoutMs=2_500),
        spawn("middle", wait="result"),
        *(spawn(f"late {n}") for n in range(5)),
        {"wait_for_file": "never"},
    ),
    rule("quick", {"say": "q"}),
    rule("deaf", {"ignore_sigterm": True}, {"say": "d"}, {"wait_for_file": "never"}),
    rule("middle", spawn("leaf", wait="result"), {"wait_for_file": "never"}),
    rule("late", {"say": "l"}, {"wait_for_file": "never"}),
    rule("leaf", {"say": "l"}, {"wait_for_file": "never"}),
)


def statuses(home: HomeOnDisk) -> list[str]:
    """Of the spawned agents."""
    return [row["status"] for row in agents_of(home)]


async def mixed(home: HomeOnDisk) -> None:
    """Wait until agents wait for their place, run, are being stopped and have ended.

    On a busy machine the deaf one may be told to stop before it has gone deaf.
    """

    def is_mixed() -> bool:
        found = {row["task"]: row["status"] for row in agents_of(home)}
        return (
            len(found) == 9
            and {"pending", "running", "completed"} <= set(found.values())
            and found["deaf"] in ("stopping", "timed_out")
        )

    await eventually(is_mixed, what=lambda: (statuses(home), home.story()))


@pytest.mark.bubblewrap
async def test_whatever_ten_agents_were_doing_at_a_kill_each_has_one_true_state_after_it(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    """`DOVECOTE_KILLS=50` does it so often, `DOVECOTE_RUNNER=process` under another runner."""
    kind = os.environ.get("DOVECOTE_RUNNER", "bubblewrap")
    usual = {"agent__runner": kind, "shutdown_grace_s": 0, "bounds__triggers_per_sender": 0}
    home.set(**usual, agent__stop_grace_s=30, queue__max_running=5)
    await home.add_group()
    home.play(MIXED)
    for n in range(int(os.environ.get("DOVECOTE_KILLS", "1"))):
        await orchestrator.start()
        home.ask(f"ask around {n}")
        await mixed(home)
        await orchestrator.kill()
        before = {row["agent_id"]: row | {"said": said(home, row["agent_id"])} for row in agents_of(home)}
        home.set(**usual, agent__stop_grace_s=0.2)
        await orchestrator.start()
        await home.quiet()
        await eventually(lambda: not live(home), what=lambda: (statuses(home), home.story()))
        await orchestrator.stop()

        check_states(before, {row["agent_id"]: row for row in agents_of(home)})
        went = [was for was in before.values() if was["status"] != "completed"]
        assert cascades(home)[-1] == ("cascade", 1 + len(went))
        assert "manual" not in dict(cascades(home))  # nobody had stopped any
        await home.nothing_left()
        forget_agents(home)
        home.set(**usual, agent__stop_grace_s=30, queue__max_running=5)


def cascades(home: HomeOnDisk) -> list[tuple[str, int]]:
    """Why trees of agents ended, and how many with each, as the audit has it."""
    found = home.rows("SELECT body FROM event_log WHERE type = 'terminate.cascade' ORDER BY position")
    events = [json.loads(row["body"]) for row in found]
    return [(event["reason"], event["terminatedCount"]) for event in events]


def check_states(before: Mapping[str, dict[str, Any]], after: Mapping[str, dict[str, Any]]) -> None:
    """Nothing of what had ended is changed, and everything else is over, in words that are true."""
    assert before.keys() == after.keys()
    for agent_id, was in before.items():
        now, words = after[agent_id], was.pop("said")
        if was["ended_ms"] is not None:
            assert now == was
        elif was["status"] == "pending":
            assert (now["status"], now["output"], now["end_reason"]) == ("terminated", "", "stopped")
        else:
            assert now["status"] == "terminated"
            assert (now["exit_code"], now["output"]) == (None, words)
            assert now["error"] == "Dovecote ended while it ran, and its work was not done by then."


async def test_an_orderly_end_under_load_leaves_nobody_unrecorded(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    home.set(agent__stop_grace_s=2, queue__max_running=5, shutdown_grace_s=0)
    await home.add_group()
    home.play(MIXED)
    await orchestrator.start()
    home.ask("ask around")
    await mixed(home)

    await orchestrator.stop()
    after = set(statuses(home))
    await home.nothing_left()
    await orchestrator.start()
    await home.quiet()
    await eventually(lambda: not live(home), what=lambda: (statuses(home), home.story()))
    await orchestrator.stop()

    assert not after & {"starting", "running", "stopping"}
    assert set(statuses(home)) == {"completed", "terminated", "timed_out"}


async def test_one_that_waited_for_its_place_is_started_after_a_kill_if_nobody_has_to_live_for_it(
    home: HomeOnDisk,
) -> None:
    async with home.running():
        pass
    async with open_store_services(home.opened()) as services:
        await spawn_for(services, OperatorCaller(), SpawnSpec(task="hello"))

    async with home.running():
        (row,) = await ended(home, "hello")

    assert (row["status"], row["output"]) == ("completed", "re: hello")


def said(home: HomeOnDisk, agent_id: str) -> str:
    """What is stored of the texts of an agent that has not ended."""
    found = home.rows("SELECT text FROM spawn_texts WHERE agent_id = ? ORDER BY ordinal", agent_id)
    return "\n\n".join(row["text"] for row in found)


async def test_who_waited_by_a_call_that_ended_with_the_orchestrator_is_held_no_longer(
    home: HomeOnDisk,
) -> None:
    async with home.running():
        pass
    by_call, by_box = AgentId("agent-by-call"), AgentId("agent-by-box")

    def body(tx: Transaction) -> None:
        for awaited, wait in ((by_call, WaitFor.NONE), (by_box, WaitFor.RESULT)):
            spawns.add(tx, record(awaited, wait=wait, idempotency_key=None))
            held = Wait(waiter=AgentId("agent-1"), awaited=awaited, wanted=WaitFor.RESULT)
            waits.add(tx, held, at=NOON)

    async with open_store_services(home.opened()) as services:
        await services.db.run(body)

    async with home.running():
        assert home.rows("SELECT awaited FROM waits") == [{"awaited": by_box}]


def live(home: HomeOnDisk) -> list[str]:
    """The agents whose records say that they have not ended, but for the chat's own."""
    return [row["agent_id"] for row in agents_of(home) if row["ended_ms"] is None]


def forget_agents(home: HomeOnDisk) -> None:
    """So that the next round begins with none."""
    path = home.path / "data" / "store" / "dovecote.db"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM spawns")


async def test_a_chat_is_told_which_helpers_died_with_the_orchestrator(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    home.set(agent__runner="process", shutdown_grace_s=0, agent__stop_grace_s=0.2, queue__max_running=3)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("quick"), spawn("dig", name="helper 2"), spawn("swim"), {"say": "ok"}),
            rule("quick", {"say": "q"}),
            rule("dig", spawn("leaf"), {"wait_for_file": "never"}),
            rule("swim", {"wait_for_file": "never"}),
            rule("leaf", {"wait_for_file": "never"}),
        )
    )
    await orchestrator.start()
    home.ask("ask around")
    await home.said("ok")
    await ended(home, "quick")
    await running(home, "dig")
    await home.quiet()  # a turn that is cut would be run again, and ask for its helpers once more
    await orchestrator.kill()
    await orchestrator.start()

    lost = say(Say.HELPERS_LOST, "en", helpers="helper 2 (“dig”), “swim”")
    await home.said("ok", lost)
    await orchestrator.stop()

    assert home.texts() == ["ok", lost]
