"""Homes and machines that are not as they should be: what is said, what is kept, what goes on."""

import asyncio
import sys
from pathlib import Path

import pytest

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_runner import DockerRunner
from tests.support.agent_image import IMAGE
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk, once
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.shifted_clock import ShiftedClock
from tests.support.small_disk import fill, small_disk
from tests.support.unix_proxy import UnixProxy

_ROOT = Path(__file__).resolve().parents[2]
ENGINE_SOCKET = "/var/run/docker.sock"
LEFT_BY_DOCKER_PACKAGE = "ignore:unclosed <socket:ResourceWarning"
"""It does not close a socket whose connect failed; the collector does."""


async def served(home: HomeOnDisk) -> tuple[int, str]:
    """`dovecote serve` on this home, which must end by itself: exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "orchestrator", "serve", "--home", str(home.path)),
        cwd=_ROOT,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def test_a_wrong_setting_stops_the_start_with_its_name_its_value_and_its_range(
    home: HomeOnDisk,
) -> None:
    home.set(queue__max_running=0)

    code, said = await served(home)

    assert code != 0
    assert "queue.max_running" in said
    assert "0" in said
    assert "1 to 200" in said
    assert not (home.path / "data").exists()


async def test_an_unreadable_store_stops_the_start_with_what_to_do(home: HomeOnDisk) -> None:
    store = home.path / "data" / "store"
    store.mkdir(parents=True)
    (store / "dovecote.db").write_bytes(b"this is no database, but long enough to be one\n" * 100)

    code, said = await served(home)

    assert code != 0
    assert "dovecote.db" in said
    assert "data/backups" in said


async def test_a_second_orchestrator_on_a_home_is_refused_and_names_the_first(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await home.add_group()
    home.play(ECHO)
    await orchestrator.start()

    code, said = await served(home)
    home.ask("one")
    await home.said("re: @Assistant one")
    await home.quiet()
    await orchestrator.stop()

    assert code != 0
    assert f"process {orchestrator.pid}" in said


async def test_the_lock_of_a_killed_orchestrator_is_free(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await orchestrator.start()
    await orchestrator.kill()

    await orchestrator.start()
    await orchestrator.stop()


@pytest.mark.filterwarnings(LEFT_BY_DOCKER_PACKAGE)
async def test_without_the_engine_that_the_settings_name_the_start_says_how_to_mend_it(
    home: HomeOnDisk,
) -> None:
    runner = DockerRunner(image=IMAGE, engine_url=f"unix://{home.path}/no.sock")

    reason = await runner.why_not()
    await runner.close()

    assert reason is not None
    assert "No Docker engine answers" in reason
    assert "systemctl start docker" in reason


@pytest.mark.docker
async def test_a_missing_image_stops_the_start_with_the_command_that_builds_it(
    home: HomeOnDisk, docker_engine: Engine
) -> None:
    home.set(agent__runner="docker", agent__image="dovecote-nowhere:0")

    code, said = await served(home)

    assert code != 0
    assert "dovecote-nowhere:0" in said
    assert "dovecote image build" in said


@pytest.mark.docker
@pytest.mark.filterwarnings(LEFT_BY_DOCKER_PACKAGE)
async def test_an_engine_that_dies_while_running_costs_a_wait_and_no_message(
    home: HomeOnDisk, docker_engine: Engine, open_path: Path
) -> None:
    await home.add_group()
    home.play(once("one", {"wait_for_file": "never"}))
    proxy = UnixProxy(open_path / "engine.sock", ENGINE_SOCKET)
    clock, answer = ShiftedClock(), "re: @Assistant one"

    async with proxy.open():
        runner = DockerRunner(image=IMAGE, engine_url=proxy.url)
        async with home.running(clock=clock, runner=(runner, "docker behind a proxy")):
            message = home.ask("one")
            await home.begun()
            await proxy.cut()
            await eventually(lambda: home.statuses()[message] == "pending", what=home.story, within_s=50)
            await proxy.mend()
            clock.advance(300)  # an agent that is being started by then says that it still works
            await eventually(lambda: answer in home.texts(), what=home.story, within_s=50)
            await home.quiet()

    assert home.texts().count(answer) == 1
    assert home.statuses()[message] == "settled"
    assert home.rows("SELECT tries FROM messages") == [{"tries": 0}]
    assert home.rows("SELECT end_reason FROM agents ORDER BY started_ms LIMIT 1") == [
        {"end_reason": "engine_lost"}
    ]
    assert await home.containers(docker_engine) == []


async def test_a_full_disk_marks_nothing_done_and_all_is_answered_when_there_is_room(
    home: HomeOnDisk,
) -> None:
    with small_disk(home.path / "data", 24 * 1024**2):
        await home.add_group()
        home.play(ECHO)
        async with home.running():
            home.ask("one")
            await home.said("re: @Assistant one")
            await home.quiet()
            ballast = home.path / "data" / "ballast"
            fill(ballast)
            home.ask("two " + "x" * 60_000)
            home.ask("three")
            await eventually(lambda: home.refusals() >= 2, what=home.story)
            held = len(home.texts())
            ballast.unlink()
            await eventually(lambda: "three" in home.texts()[-1], within_s=40, what=home.story)
            await home.quiet()
        await home.nothing_left()
        statuses = home.statuses()

    assert held == 1
    assert set(statuses.values()) == {"settled"}
    assert len(statuses) == 3


async def test_below_the_floor_of_free_space_no_agent_starts_and_the_message_waits(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(disk_floor_bytes=1024**5)
    home.play(ECHO)

    async with home.running():
        message = home.ask("one")
        await home.said(say(Say.NO_ROOM, "en"))
        assert home.statuses()[message] == "pending"
        assert home.logs("disk.below_floor")

    home.set()
    async with home.running():
        await home.quiet()

    assert home.texts() == [say(Say.NO_ROOM, "en"), say(Say.WORKING_AGAIN, "en"), "re: @Assistant one"]


async def test_e5_an_orderly_stop_lets_the_turn_end_and_sends_its_answer(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    """Case E5."""
    await home.add_group()
    home.set(shutdown_grace_s=30)
    home.play(once("one", {"delay_s": 1}, {"say": "done"}))
    await orchestrator.start()
    home.ask("one")
    await home.begun()

    await orchestrator.stop()

    assert home.texts() == ["done"]
    assert set(home.statuses().values()) == {"settled"}


async def test_d_5_a_turn_longer_than_the_grace_is_run_again_after_the_stop(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    """Case D-5."""
    await home.add_group()
    home.set(shutdown_grace_s=0)
    home.play(once("one", {"wait_for_file": "never"}))
    await orchestrator.start()
    home.ask("one")
    await home.begun()
    await orchestrator.stop()
    between = home.rows("SELECT status, tries FROM messages")

    await orchestrator.start()
    await home.said("re: @Assistant one")
    await home.quiet()
    await orchestrator.stop()

    assert between == [{"status": "pending", "tries": 0}]
    assert say(Say.PARTIAL, "en") not in home.texts()
