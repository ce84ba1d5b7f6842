"""How a program is ended: kindly as far as it lets us, and nothing of it is left.

Source: agents.md section 4.
"""

import asyncio
import os

import pytest

from orchestrator.contracts.wire.container_io import TurnStatus
from tests.edges.container.acp_driver.bench import bench
from tests.edges.container.agent_process import Home

SLEEPER = ["sh", "-c", "trap '' TERM HUP; sleep 1000 & wait"]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be looked at does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


async def test_an_interrupted_turn_ends_as_cancelled_and_the_next_prompt_is_heard(home: Home) -> None:
    turns = [[{"say": "half"}, {"wait_for_cancel": None}], [{"say": "fresh"}]]
    async with bench(home, {"turns": turns}) as running:
        async with asyncio.TaskGroup() as tasks:
            turn = tasks.create_task(running.turn())
            await running.until(lambda: running.records("prompt"))
            await running.driver.interrupt()
        assert turn.result().status is TurnStatus.CANCELLED
        await running.turn()

    assert running.texts == ["fresh"]


async def test_a_program_that_ends_with_its_input_is_never_sent_a_signal(home: Home) -> None:
    async with bench(home, {"ignores_sigterm": True}) as running:
        await running.turn()
        pid = running.records("new")[0]["pid"]

    calls = [record["call"] for record in running.records()]
    assert calls[-2:] == ["cancel", "eof"]
    assert not is_alive(pid)


async def test_a_program_that_stays_is_asked_by_a_signal_and_then_killed(home: Home) -> None:
    plan = {"ignores_eof": True, "ignores_sigterm": True}
    async with bench(home, plan, stop_wait_s=0.1) as running:
        await running.turn()
        pid = running.records("new")[0]["pid"]

    assert not is_alive(pid)
    # How far it came before the last signal is a matter of how busy the machine is.
    calls = [record["call"] for record in running.records()]
    assert [call for call in calls if call in ("eof", "sigterm")] in (
        ["eof", "sigterm"],
        ["sigterm"],
        ["eof"],
        [],
    )


@pytest.mark.parametrize("words", [SLEEPER, ["setsid", *SLEEPER]])
async def test_what_a_program_has_started_ends_with_it(home: Home, words: list[str]) -> None:
    plan = {"turns": [[{"child": words}, {"say": "started"}]]}
    async with bench(home, plan, stop_wait_s=0.2) as running:
        await running.turn()
        pid = running.records("child")[0]["pid"]
        assert is_alive(pid)

    assert not is_alive(pid)


async def test_a_command_that_still_runs_ends_with_its_program(home: Home) -> None:
    command = "echo $$ > pid; trap '' TERM HUP; sleep 1000"
    steps = [{"begin_run": {"command": command}}, {"say": "started"}]
    async with bench(home, {"turns": [steps]}, permissions="approve-all") as running:
        await running.turn()
        path = home.workspace / "pid"
        await running.until(lambda: path.exists() and path.read_text())
        pid = int(path.read_text())
        assert is_alive(pid)

    assert not is_alive(pid)


async def test_a_start_that_fails_or_is_cancelled_leaves_no_program(home: Home) -> None:
    async with bench(home, {"failures": {"new": "hang"}}) as running:
        async with asyncio.TaskGroup() as tasks:
            turn = tasks.create_task(running.turn())
            await running.until(lambda: running.records("new"))
            turn.cancel()
        pid = running.records("new")[0]["pid"]
        assert not is_alive(pid)

    assert turn.cancelled()


async def test_a_stop_that_is_cancelled_itself_still_leaves_no_program(home: Home) -> None:
    async with bench(home, {"ignores_eof": True}, stop_wait_s=60.0) as running:
        await running.turn()
        pid = running.records("new")[0]["pid"]
        async with asyncio.TaskGroup() as tasks:
            closing = tasks.create_task(running.driver.close())
            await running.until(lambda: "eof" in [record["call"] for record in running.records()])
            closing.cancel()
        assert not is_alive(pid)


async def test_the_program_leads_a_process_group_of_its_own(home: Home) -> None:
    async with bench(home) as running:
        await running.turn()
        pid = running.records("new")[0]["pid"]
        assert os.getpgid(pid) == pid
        assert os.getpgid(pid) != os.getpgid(0)
