"""What somebody with a shell beside the agent runner does to it, and to what it writes: the chat goes on."""

import pytest

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk, once
from tests.support.shifted_clock import ShiftedClock


def shell(words: str) -> dict[str, object]:
    """A step that runs a shell as the agent."""
    return {"run": ["sh", "-c", words]}


async def test_attack_a_kill_of_the_agent_runner_from_below_it_runs_the_message_again(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.play(once("one", shell("kill -9 $PPID"), {"wait_for_file": "never"}))

    clock = ShiftedClock()

    async with home.running(clock=clock):
        message = home.ask("one")
        await eventually(lambda: home.logs("agent.ended"), what=home.story)
        clock.advance(10)
        await home.said("re: @Assistant one")
        await home.quiet()

    assert home.rows("SELECT status, tries FROM messages") == [{"status": "settled", "tries": 1}]
    assert home.statuses()[message] == "settled"


async def test_attack_an_agent_runner_that_was_halted_is_stopped_all_the_same(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(agent__stop_grace_s=0.5)
    halted = home.path / "groups" / "kitchen" / "workspace" / "halted"
    home.play(once("one", shell(f"touch {halted}; kill -STOP $PPID")))

    async with home.running():
        home.ask("one")
        await eventually(halted.exists, what=home.story)
        home.say("/stop")
        await home.said(say(Say.STOPPED, "en"))
        home.ask("two")
        await eventually(lambda: home.texts()[-1] == "re: @Assistant two", what=home.story)
        await home.quiet()


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param("chmod -R 000 {box} {workspace} {agent_home}", id="closes all its directories"),
        pytest.param(
            "rm -rf {workspace}/* {workspace}/.[a-z]* {agent_home}/* {box}/*", id="removes all its files"
        ),
        pytest.param(
            "mkfifo {box}/messages/x.json {box}/acks/x.json {workspace}/x", id="puts pipes everywhere"
        ),
        pytest.param("ln -s / {box}/input/1.json; ln -s / {agent_home}/root", id="puts links everywhere"),
    ],
)
async def test_attack_what_an_agent_does_to_its_own_places_stops_no_later_agent(
    home: HomeOnDisk, deed: str
) -> None:
    await home.add_group()
    words = deed.format(
        box=home.path / "data" / "ipc" / "kitchen",
        workspace=home.path / "groups" / "kitchen" / "workspace",
        agent_home=home.path / "data" / "sessions" / "kitchen" / "script",
    )
    home.play(once("one", shell(f"{words}; kill -9 $PPID")))

    clock = ShiftedClock()

    async with home.running(clock=clock):
        first = home.ask("one")
        await eventually(lambda: home.logs("agent.ended"), what=home.story)
        await eventually(lambda: not home.boxes(), what=home.story)
        clock.advance(10)
        home.ask("two")
        await eventually(lambda: home.texts() and "two" in home.texts()[-1], what=home.story)
        await home.quiet()

    assert home.statuses()[first] in ("settled", "failed")
