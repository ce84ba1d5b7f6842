"""How agents start and end, the same with every runner."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import AgentId, new_id
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.conftest import WALLED
from tests.agreement.runners.leaver import AGENT
from tests.agreement.runners.stage import Stage, open_runner, read_line, run
from tests.support.descriptors import open_descriptors
from tests.support.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]
READS = "import sys; sys.stdin.read()"


@pytest.mark.parametrize("code", [0, 1, 3, 127])
async def test_the_exit_code_is_the_agents(runner: DescribedRunner, stage: Stage, code: int) -> None:
    ran = await run(runner, stage.plan(f"import sys; sys.stdin.read(); raise SystemExit({code})"))

    assert ran.status.code == code
    assert not ran.status.is_oom


async def test_a_crash_by_signal_is_told_as_a_shell_tells_it(runner: DescribedRunner, stage: Stage) -> None:
    ran = await run(
        runner, stage.plan("import os, signal, sys; sys.stdin.read(); os.kill(os.getpid(), signal.SIGSEGV)")
    )

    assert ran.status.code == 128 + signal.SIGSEGV
    assert not ran.status.is_oom


async def test_terminate_lets_the_agent_end_in_its_own_way(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import signal, sys, time
def end(*_):
    print('goodbye', flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True:
    time.sleep(0.01)  # a signal that comes just before a sleep begins is seen after it
"""
    handle = await runner.start(stage.plan(code))
    lines = handle.output()
    await read_line(lines)

    try:
        await handle.terminate()
        last = await read_line(lines)
        status = await handle.wait()
    finally:
        await handle.close()

    assert last == b"goodbye\n"
    assert status.code == 7


async def test_an_agent_that_knows_no_sigterm_ends_by_it(runner: DescribedRunner, stage: Stage) -> None:
    handle = await runner.start(stage.plan("print('ready', flush=True); import time; time.sleep(600)"))
    await read_line(handle.output())

    try:
        await handle.terminate()
        status = await handle.wait()
    finally:
        await handle.close()

    assert status.code == 128 + signal.SIGTERM


async def test_e1_kill_ends_one_that_ignores_sigterm_and_all_its_children(
    runner: DescribedRunner, stage: Stage
) -> None:
    """Case E1."""
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
print('ready', flush=True)
while True:
    time.sleep(0.01)  # a signal that comes just before a sleep begins is seen after it
"""
    handle = await runner.start(stage.plan(code))
    await read_line(handle.output())

    await handle.terminate()
    lived_on = not await handle.is_gone()
    await handle.kill()
    status = await handle.wait()
    is_gone = await handle.is_gone()
    await handle.close()

    assert lived_on
    assert status.code == 128 + signal.SIGKILL
    assert is_gone


async def test_nothing_outlives_the_agent_itself(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import os, time
if os.fork() == 0:
    time.sleep(600)
"""
    handle = await runner.start(stage.plan(code))

    status = await handle.wait()
    is_gone = await handle.is_gone()
    await handle.close()

    assert status.code == 0
    assert is_gone


async def test_all_that_an_agent_had_started_is_gone_when_its_end_is_told(
    runner: DescribedRunner, stage: Stage
) -> None:
    """Many with much memory take the kernel a while to take down."""
    code = """
import os, time
held = bytearray(20_000_000)
hear, tell = os.pipe()
for _ in range(24):
    if os.fork() == 0:
        held[::4096] = b'x' * len(held[::4096])
        os.write(tell, b'.')
        time.sleep(600)
for _ in range(24):
    os.read(hear, 1)
"""
    handle = await runner.start(stage.plan(code))

    await handle.wait()
    is_gone = await handle.is_gone()
    await handle.close()

    assert is_gone


async def test_every_method_may_be_called_again_and_after_the_end(
    runner: DescribedRunner, stage: Stage
) -> None:
    handle = await runner.start(stage.plan("pass"))

    first = await handle.wait()
    for _ in range(2):
        await handle.terminate()
        await handle.kill()
    await handle.close()
    await handle.close()

    assert await handle.wait() == first
    assert await handle.is_gone()
    assert handle.process_ref


async def test_waiting_needs_no_reader(runner: DescribedRunner, stage: Stage) -> None:
    handle = await runner.start(stage.plan("print('unread ' * 100)"))

    async with asyncio.timeout(50):
        status = await handle.wait()
    await handle.close()

    assert status.code == 0


async def test_a_command_that_is_not_there_is_a_failed_start_or_a_failed_run(
    runner: DescribedRunner, stage: Stage
) -> None:
    plan = stage.plan("", command=("/nowhere/no-such-agent",))

    try:
        handle = await runner.start(plan)
    except StartFailed as error:
        failure = str(error)
    else:
        failure = f"code {(await handle.wait()).code}"
        await handle.close()

    assert failure not in ("", "code 0")


@pytest.mark.parametrize("kind", WALLED, indirect=True)
async def test_a_missing_directory_fails_the_start_by_its_name(runner: DescribedRunner, stage: Stage) -> None:
    plan = stage.plan("pass")
    stage.places.workspace.rmdir()

    with pytest.raises(StartFailed, match=str(stage.places.workspace)):
        await runner.start(plan)


@pytest.mark.parametrize("after_s", [0.0, 0.005, 0.03, 0.15])
async def test_a_cancelled_start_leaves_nothing(
    runner: DescribedRunner, kind: str, stage: Stage, programs: Path, after_s: float
) -> None:
    plan = stage.plan(AGENT)
    doomed = open_runner(kind, programs)
    await doomed.why_not()

    try:
        async with asyncio.timeout(after_s):
            handle = await doomed.start(plan)
        await handle.close()
    except TimeoutError:
        pass
    await doomed.close()

    await eventually(lambda: _commands_with(plan.agent_id) == [])
    assert await runner.stop_leftovers(stage.instance_id, [(plan.agent_id, None)]) == []


async def test_twenty_starts_leave_no_descriptor_open(runner: DescribedRunner, stage: Stage) -> None:
    for _ in range(8):  # until the engine's connections that are kept for later have settled
        await run(runner, stage.plan(READS))
    before = len(open_descriptors())

    for _ in range(20):
        await run(runner, stage.plan(READS))

    # A closed transport gives its descriptor back in the loop's next round.
    await eventually(lambda: len(open_descriptors()) <= before, what=open_descriptors)


async def test_e2_e3_what_a_killed_orchestrator_left_is_dead_after_the_sweep(
    runner: DescribedRunner, kind: str, stage: Stage, programs: Path, tmp_path: Path
) -> None:
    """Cases E2, E3."""
    leaver = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.agreement.runners.leaver"),
        *(kind, str(programs), str(tmp_path), stage.instance_id),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert leaver.stdout is not None
    left = json.loads(await leaver.stdout.readline())
    neighbours = Stage(tmp_path / "neighbour", instance_id=new_id("test"))
    neighbour = await runner.start(neighbours.plan(AGENT))

    leaver.kill()
    await leaver.wait()
    successor = open_runner(kind, programs)
    unverified = await successor.stop_leftovers(
        stage.instance_id, [(AgentId(left["agent_id"]), left["ref"]), (AgentId("agent-unknown"), None)]
    )

    try:
        assert unverified == []
        assert _commands_with(left["agent_id"]) == []
        assert not await neighbour.is_gone()
    finally:
        await successor.close()
        await neighbour.close()


async def test_an_agent_whose_reference_was_never_stored_is_found_by_its_name(
    runner: DescribedRunner, stage: Stage
) -> None:
    plan = stage.plan(AGENT)
    handle = await runner.start(plan)

    unverified = await runner.stop_leftovers(stage.instance_id, [(plan.agent_id, None)])

    async with asyncio.timeout(50):
        await handle.wait()

    try:
        assert unverified == []
        assert await handle.is_gone()
    finally:
        await handle.close()


def _commands_with(word: str) -> list[str]:
    """Command lines on this machine that hold `word`."""
    found: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += [line] if word in line else []
    return found
