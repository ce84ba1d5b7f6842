"""The runner without walls: whom it refuses, and that its agents end with whoever holds them."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.launch import ResourceLimits
from orchestrator.runners import procfs
from orchestrator.runners.process_handle import keys_in
from orchestrator.runners.process_runner import ProcessRunner, host_path
from tests.agreement.runners.leaver import AGENT
from tests.agreement.runners.stage import Stage, read_line, run
from tests.support.eventually import eventually


@pytest.fixture
async def runner(programs: Path) -> AsyncIterator[ProcessRunner]:
    """One that starts no driver which needs walls."""
    made = ProcessRunner(programs_directory=programs)
    yield made
    await made.close()


async def test_a_driver_that_runs_a_models_commands_is_refused(runner: ProcessRunner, stage: Stage) -> None:
    with pytest.raises(StartFailed, match="no walls") as refused:
        await runner.start(stage.plan("pass", runs_model_commands=True))

    assert refused.value.suggestion is not None
    assert "allow_unisolated" in refused.value.suggestion


async def test_with_the_operators_consent_it_is_not(programs: Path, stage: Stage) -> None:
    consenting = ProcessRunner(programs_directory=programs, allow_unisolated=True)

    try:
        ran = await run(consenting, stage.plan("print('ran')", runs_model_commands=True))
    finally:
        await consenting.close()

    assert ran.output == b"ran\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/workspace/ipc", "/h/box"),
        ("/workspace/ipc/input/1.json", "/h/box/input/1.json"),
        ("/workspace/ipc/mail", "/h/elsewhere"),
        ("/workspace/ipcs", "/workspace/ipcs"),
        ("see /workspace/ipc", "see /workspace/ipc"),
        ("", ""),
    ],
    ids=["a target", "below it", "a mount over it", "a longer name", "inside a text", "nothing"],
)
def test_container_paths_become_host_paths(value: str, expected: str) -> None:
    places = {"/workspace/ipc": "/h/box", "/workspace/ipc/mail": "/h/elsewhere"}

    assert host_path(value, places) == expected


async def test_a_killed_lifeline_takes_its_agent_along(runner: ProcessRunner, stage: Stage) -> None:
    handle = await runner.start(stage.plan(AGENT))
    lifeline, agent = keys_in(handle.process_ref)

    os.kill(lifeline.pid, signal.SIGKILL)
    status = await handle.wait()
    await handle.close()

    await eventually(lambda: not procfs.is_running(agent))
    assert status.code == 137


async def test_an_agent_that_stopped_itself_is_killed_all_the_same(
    runner: ProcessRunner, stage: Stage
) -> None:
    code = "print('ready', flush=True); import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    handle = await runner.start(stage.plan(code))
    await read_line(handle.output())

    await handle.kill()
    status = await handle.wait()
    await handle.close()

    assert status.code == 137


async def test_memory_is_bounded_for_a_driver_of_ours(runner: ProcessRunner, stage: Stage) -> None:
    code = """
try:
    held = bytearray(2_000_000_000)
    print('unbounded')
except MemoryError:
    print('bounded')
"""

    ran = await run(runner, stage.plan(code, limits=ResourceLimits(memory_bytes=256 * 1024**2)))

    assert ran.output == b"bounded\n"


@pytest.mark.parametrize(
    "ref",
    [None, "", "not JSON", "{}", '[{"pid": "1"}]', "[1]"],
    ids=["none", "empty", "text", "object", "a word", "a number"],
)
def test_a_reference_of_another_runner_names_nobody(ref: str | None) -> None:
    assert keys_in(ref) == []
