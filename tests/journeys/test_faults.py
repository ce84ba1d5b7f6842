"""Agents that misbehave: each ends in the right sentence or log, nothing is lost, the orchestrator lives."""

import shutil

import pytest

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.runners.process_runner import ProcessRunner
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk, once
from tests.support.raw_agents import raw_agent
from tests.support.stubborn_runner import StubbornRunner

FLOOD_BYTES = 128 * 1024**2
"""Far beyond what any buffer of ours may hold; a full 1 GB would only take longer."""
MOST_GROWTH_KIB = 48 * 1024


async def it_answers(home: HomeOnDisk, chat: str = "garden") -> None:
    """Another chat is answered: the orchestrator lives."""
    home.ask("are you there?", chat=f"file:{chat}")
    await home.said("re: @Assistant are you there?", chat=f"file:{chat}")


@pytest.mark.parametrize("name", ["exits_at_once", "prints_garbage"])
async def test_an_agent_that_never_is_ready_is_a_failed_start_and_its_message_waits(
    name: str, home: HomeOnDisk
) -> None:
    await home.add_group()
    home.play(ECHO)
    home.set(agent__start_timeout_s=2)

    async with home.running(command=raw_agent(name)):
        message = home.ask("one")
        await eventually(lambda: home.logs("agent.not_started"), what=home.story)
        await eventually(lambda: home.statuses()[message] == "pending", what=home.story)
        await eventually(lambda: not home.boxes())

    assert home.texts() == []
    assert home.rows("SELECT end_reason FROM agents ORDER BY started_ms")[0] == {"end_reason": "start_failed"}
    assert home.rows("SELECT tries FROM messages") == [{"tries": 0}]


async def test_e13_the_last_words_of_an_agent_that_failed_to_start_are_in_the_log(home: HomeOnDisk) -> None:
    """Case E13."""
    await home.add_group()

    async with home.running(command=raw_agent("exits_at_once")):
        home.ask("one")
        await eventually(lambda: home.logs("agent.not_started"), what=home.story)

    assert "no such library" in home.logs("agent.not_started")[0]["error"]


async def test_an_agent_that_never_reads_a_large_input_is_a_failed_start(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(agent__start_timeout_s=2)

    async with home.running(command=raw_agent("never_reads")):
        message = home.ask("one " + "x" * 60_000)
        home.ask("two " + "x" * 60_000)
        await eventually(lambda: home.logs("agent.not_started"), what=home.story)
        await eventually(lambda: home.statuses()[message] == "pending", what=home.story)
        await eventually(lambda: not home.boxes())

    assert home.texts() == []


async def test_an_agent_that_is_ready_only_when_it_is_stopped_is_stopped(home: HomeOnDisk) -> None:
    await home.add_group()

    async with home.running(command=raw_agent("ready_when_told_to_stop")):
        message = home.ask("one")
        await eventually((home.workspace() / "waiting").exists, what=home.story)
        home.say("/stop")
        await home.said(say(Say.STOPPED, "en"))
        await home.quiet()

    assert home.statuses()[message] == "failed"
    assert [row["status"] for row in home.rows("SELECT status FROM agents")] == ["terminated"]


async def test_a_flood_without_a_newline_costs_no_memory_and_no_answer(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(once("one", {"flood": {"bytes": FLOOD_BYTES}}, {"say_raw": "\n"}, {"say": "after it"}))

    async with home.running():
        before = peak_memory_kib()
        home.ask("one")
        await home.said("after it", within_s=50)
        await home.quiet()
        grown = peak_memory_kib() - before

    assert grown < MOST_GROWTH_KIB


def peak_memory_kib() -> int:
    """The most this process ever held."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


async def test_an_agent_that_floods_its_log_is_answered_and_its_log_stays_small(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(logs__max_bytes=64 * 1024, logs__keep=2)
    flood = {"flood": {"bytes": 8 * 1024**2, "newlines": True, "stream": "stderr"}}
    home.play(once("one", flood, {"say": "after it"}))

    async with home.running():
        home.ask("one")
        await home.said("after it", within_s=50)
        await home.quiet()

    files = (home.path / "data" / "logs" / "agents").iterdir()
    assert sum(file.stat().st_size for file in files) <= 4 * 64 * 1024


async def test_a_frame_that_death_left_open_is_not_sent_and_its_message_runs_again(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(once("one", {"open_pair": "half a sentence"}, {"crash": "KILL"}))

    async with home.running():
        message = home.ask("one")
        await home.said("re: @Assistant one")
        await home.quiet()

    assert home.rows("SELECT tries, status FROM messages") == [{"tries": 1, "status": "settled"}]
    assert home.statuses()[message] == "settled"


async def test_an_agent_that_ignores_sigterm_is_killed_after_the_grace(home: HomeOnDisk) -> None:
    await home.add_group()
    await home.add_group("garden")
    home.set(agent__stop_grace_s=1)
    home.play(once("one", {"ignore_sigterm": True}, {"wait_for_file": "never"}))
    home.play(ECHO, "garden")

    async with home.running():
        message = home.ask("one")
        await home.begun()
        home.say("/stop")
        await home.said(say(Say.STOPPED, "en"))
        await it_answers(home)
        await home.quiet()

    assert home.statuses()[message] == "failed"
    assert home.rows("SELECT end_reason, exit_code FROM agents WHERE folder = 'kitchen'") == [
        {"end_reason": "stopped", "exit_code": 137}
    ]


@pytest.mark.parametrize("refused_kills", [0, 1])
async def test_e4_a_stop_that_the_engine_refuses_is_logged_as_that_and_ends_in_a_kill(
    home: HomeOnDisk, refused_kills: int
) -> None:
    """Case E4."""
    await home.add_group()
    home.play(once("one", {"wait_for_file": "never"}))
    real = ProcessRunner(programs_directory=home.opened().paths.programs)
    runner = StubbornRunner(real, refusals=refused_kills)

    async with home.running(runner=(runner, "a stubborn one")):
        message = home.ask("one")
        await home.begun()
        home.say("/stop")
        await home.said(say(Say.STOPPED, "en"))

    assert home.statuses()[message] == "failed"
    assert [line["level"] for line in home.logs("agent.not_terminated")] == ["error"]
    assert len(home.logs("agent.not_killed")) == refused_kills
    assert home.processes() == []


async def test_an_agent_that_closes_its_output_and_lives_on_is_ended_and_its_message_runs_again(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.set(agent__stop_grace_s=1)

    async with home.running(command=raw_agent("closes_its_output")):
        message = home.ask("one")
        await eventually(lambda: home.logs("agent.closed_its_output"), what=home.story)
        await eventually(lambda: home.statuses()[message] == "pending", what=home.story)
        await eventually(lambda: not home.boxes())

    assert home.rows("SELECT tries FROM messages")[0]["tries"] >= 1


async def test_an_agent_whose_group_folder_vanishes_does_not_take_the_others_with_it(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    await home.add_group("garden")
    home.play(once("one", {"wait_for_file": "never"}))
    home.play(ECHO, "garden")

    async with home.running():
        home.ask("one")
        await home.begun()
        shutil.rmtree(home.path / "groups" / "kitchen")
        await it_answers(home)
        home.say("/stop")
        await home.said(say(Say.STOPPED, "en"))
        home.ask("two")
        await home.said(say(Say.STOPPED, "en"), "re: @Assistant two")
        await home.quiet()


async def test_an_agent_whose_box_vanishes_is_ended_and_its_chat_goes_on(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(ECHO)

    async with home.running():
        home.ask("one")
        await home.said("re: @Assistant one")
        await home.quiet()
        shutil.rmtree(home.path / "data" / "ipc" / "kitchen")
        await eventually(lambda: home.logs("box.violated"), what=home.story)
        await eventually(lambda: home.logs("agent.ended"), what=home.story)
        home.ask("two")
        await eventually(lambda: home.texts()[-1] == "re: @Assistant two", what=home.story)
        await home.quiet()

    assert set(home.statuses().values()) == {"settled"}


async def test_a_missing_group_folder_is_made_again_for_the_next_message(home: HomeOnDisk) -> None:
    await home.add_group()
    shutil.rmtree(home.path / "groups" / "kitchen")

    async with home.running():
        home.ask("one")
        await home.said("re: @Assistant one")
        await home.quiet()
