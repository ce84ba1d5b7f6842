"""`/new`: the conversation that an agent held is over, whenever the word comes. contracts.md section 6."""

import asyncio
from collections.abc import Callable

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk

OPERATOR = {"sender_jid": "file:olga", "sender_name": "Olga"}
WAITS = {
    "session": "s-1",
    "rules": [{"match": "wait", "steps": [{"wait_for_file": "go"}, {"say": "waited"}]}],
    **ECHO,
}


class AtTheStart:
    """Implements `Checkpoints`: does something once, as soon as an agent's process was started."""

    def __init__(self) -> None:
        self.then: Callable[[], object] | None = None

    def reached(self, name: str) -> None:
        """Called by the orchestrator."""
        if name == "agent.started" and self.then is not None:
            then, self.then = self.then, None
            then()


NEW = say(Say.NEW_CONVERSATION, "en")


def sessions(home: HomeOnDisk) -> list[str]:
    """What later agents of the kitchen would resume."""
    return [row["session_id"] for row in home.rows("SELECT session_id FROM sessions WHERE session_id <> ''")]


async def test_i7_new_closes_the_agent_and_the_next_one_begins_afresh(home: HomeOnDisk) -> None:
    home.set(assistant__operators=["file:olga"])
    await home.add_group()
    home.play(WAITS)

    async with home.running():
        home.ask("one")
        await home.said("re: @Assistant one")
        kept = sessions(home)
        home.say("/new", **OPERATOR)
        await home.said("re: @Assistant one", NEW)
        dropped = sessions(home)
        home.ask("two")
        await home.said("re: @Assistant one", NEW, "re: @Assistant two")
        await home.quiet()

    assert (kept, dropped) == (["s-1"], [])
    assert len(home.rows("SELECT DISTINCT agent_id FROM turns")) == 2


async def test_new_in_a_turn_lets_it_end_and_what_comes_behind_it_begins_afresh(home: HomeOnDisk) -> None:
    home.set(assistant__operators=["file:olga"])
    await home.add_group()
    home.play(WAITS)

    async with home.running():
        first = home.ask("wait")
        query = "SELECT 1 FROM messages WHERE message_id = ? AND is_in_turn = 1"
        await eventually(lambda: home.rows(query, first), what=home.story)
        home.say("/new", **OPERATOR)
        await home.said(NEW)
        home.ask("two")
        (home.workspace() / "go").touch()
        await home.said(NEW, "waited", "re: @Assistant two")
        await home.quiet()

    assert len(home.rows("SELECT DISTINCT agent_id FROM turns")) == 2


async def test_an_agent_that_is_closed_while_it_starts_does_its_turn_and_takes_no_more(
    home: HomeOnDisk,
) -> None:
    jid = await home.add_group()
    home.play(ECHO)
    start = AtTheStart()

    async with home.running(checkpoints=start) as app, asyncio.TaskGroup() as tasks:
        start.then = lambda: tasks.create_task(app.agents.close_chat(jid))
        home.ask("one")
        await home.said("re: @Assistant one")
        home.ask("two")
        await home.said("re: @Assistant one", "re: @Assistant two")
        await home.quiet()

    assert len(home.rows("SELECT DISTINCT agent_id FROM turns")) == 2
