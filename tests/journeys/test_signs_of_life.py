"""How a chat sees that the assistant is at work, and what its clocks do.

Source: contracts.md section 2 and 6.
"""

from orchestrator.app.doors import App
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.shifted_clock import ShiftedClock
from tests.support.spawned import rule, running, scenario, spawn

WAITS = {"rules": [{"match": "wait", "steps": [{"wait_for_file": "go"}, {"say": "waited"}]}], **ECHO}


def go(home: HomeOnDisk) -> None:
    """Let the turn go on that waits for it."""
    (home.workspace() / "go").touch()


async def in_a_turn(home: HomeOnDisk, message: str) -> None:
    """Wait until an agent has taken the message into a turn."""
    query = "SELECT 1 FROM messages WHERE message_id = ? AND is_in_turn = 1"
    await eventually(lambda: home.rows(query, message), what=home.story)


async def test_typing_is_shown_while_a_turn_runs_and_taken_away_at_its_end(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(typing_renew_s=0.5)
    home.play(WAITS)

    async with home.running():
        home.ask("wait")
        await eventually(lambda: home.typing().count(True) >= 3)
        assert False not in home.typing()
        go(home)
        await home.said("waited")
        await eventually(lambda: home.typing()[-1] is False)


async def test_typing_is_taken_away_when_the_agent_dies(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play({"turns": [[{"say": "half"}, {"crash": "KILL"}]]})

    async with home.running():
        home.ask("one")
        await home.quiet()
        await eventually(lambda: home.typing()[-1] is False)


async def test_a_long_silence_is_told_once(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(typing_renew_s=0.5, still_working_s=1)
    home.play(WAITS)

    async with home.running():
        home.ask("wait")
        await home.said(say(Say.STILL_WORKING, "en"))
        renewed = home.typing().count(True)
        await eventually(lambda: home.typing().count(True) >= renewed + 3)
        go(home)
        await home.said(say(Say.STILL_WORKING, "en"), "waited")


async def test_a_chat_does_not_hear_that_a_spawned_agent_still_works(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(still_working_s=1)
    home.play(
        scenario(
            rule("start one", spawn("dig"), {"say": "ok"}),
            rule("dig", {"wait_for_file": "go"}),
            rule("wait", {"wait_for_file": "go"}, {"say": "waited"}),
        )
    )

    async with home.running():
        home.ask("start one")
        await eventually(lambda: "ok" in home.texts(), what=home.story)
        (child,) = await running(home, "dig")
        home.ask("wait")
        # The chat's own turn began later, so by now that of the other would have been told.
        await eventually(lambda: home.texts()[-1] == say(Say.STILL_WORKING, "en"), what=home.story)
        go(home)
        await eventually(lambda: home.texts()[-1] == "waited", what=home.story)

    told = [row["source_key"] for row in home.rows("SELECT source_key FROM outbox")]
    assert [key for key in told if key.startswith("still:")], told
    assert not [key for key in told if child in key]


async def test_e1_silence_beyond_the_limit_ends_the_turn_as_timed_out(home: HomeOnDisk) -> None:
    """Case E1."""
    await home.add_group()
    home.set(typing_renew_s=0.5, still_working_s=86_400)
    home.play({"turns": [[{"say": "half"}, {"wait_for_file": "never"}]]})
    clock = ShiftedClock()

    async with home.running(clock=clock):
        message = home.ask("one")
        await home.said("half")
        clock.advance(1801)
        await home.said("half", say(Say.TIMED_OUT, "en"))
        await home.quiet()

    assert home.statuses()[message] == "partial"
    assert [row["status"] for row in home.rows("SELECT status FROM agents")] == ["timed_out"]


async def test_e9_an_agent_that_shows_life_is_not_silent(home: HomeOnDisk) -> None:
    """Case E9."""
    await home.add_group()
    home.set(typing_renew_s=0.5, still_working_s=86_400)
    wait_and_tool = [{"wait_for_file": "go"}, {"tool": {"name": "search"}}, {"write_file": {"path": "used"}}]
    home.play({"turns": [[*wait_and_tool, {"wait_for_file": "end"}, {"say": "done"}]]})
    clock = ShiftedClock()

    async with home.running(clock=clock):
        await in_a_turn(home, home.ask("one"))
        clock.advance(1700)
        go(home)
        await eventually(lambda: (home.workspace() / "used").exists())
        renewed = home.typing().count(True)
        await eventually(lambda: home.typing().count(True) >= renewed + 2)
        clock.advance(1700)
        renewed = home.typing().count(True)
        await eventually(lambda: home.typing().count(True) >= renewed + 2)
        (home.workspace() / "end").touch()
        await home.said("done")


async def test_an_idle_agent_is_closed_kindly_and_nothing_is_said(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(agent__idle_timeout_s=1)
    home.play(ECHO)

    async with home.running() as app:
        home.ask("one")
        await home.quiet()
        await eventually(lambda: nobody_lives(app))

    assert home.texts() == ["re: @Assistant one"]
    ends = home.rows("SELECT status, exit_code, end_reason FROM agents")
    assert ends == [{"status": "completed", "exit_code": 0, "end_reason": "exited"}]


def nobody_lives(app: App) -> bool:
    """Whether no agent runs."""
    return not app.agents.live
