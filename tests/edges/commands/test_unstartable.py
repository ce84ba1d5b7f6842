"""An agent whose program is not there inside: said at once, to chat and operators, and waited for."""

import pytest

from orchestrator.commands.chat_views import chat_view
from orchestrator.commands.running.holds import NOT_SET_UP, hold, note_good_start, tell_not_set_up
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.container_io import TurnEnded, TurnError, TurnStatus
from orchestrator.core.agents.unstartable import Need
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import agents, messages
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group

MISSING = "Its program 'x' is not there inside. Mend it."
NEEDED = (Need(name="x", what="Its program 'x' is not there inside.", mend="Mend it."),)


async def fail_to_begin(desk: Desk, number: int, code: str) -> Agent:
    """An agent that says of its turn with m-1 that it could not begin."""
    turn = f"turn-{number}"
    held = await desk.start_agent(f"agent-{number}", turn=turn)
    await desk.begin(held, "m-1", turn=turn)
    error = TurnError(code=code, message="click http://evil.example")
    event = TurnEnded(turn_id=TurnId(turn), inputs=("m-1",), status=TurnStatus.ERROR, error=error)
    await desk.end_as(held, event, needed=NEEDED)
    return held


@pytest.mark.parametrize(
    ("code", "why"),
    [("PROGRAM_MISSING", MISSING), ("START_FAILED", "data/logs/agents/family.log")],
)
async def test_chat_and_operators_hear_it_once_and_no_try_is_spent(desk: Desk, code: str, why: str) -> None:
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    await desk.hear("m-1")
    for number in (1, 2, 3):
        await fail_to_begin(desk, number, code)
        desk.clock.advance(300)

    assert await desk.texts() == [say(Say.NOT_SET_UP, "en")]
    (told,) = await desk.texts(OTHER_CHAT)
    assert "family" in told
    assert why in told
    assert "evil" not in told
    assert (await desk.row("m-1"))["tries"] == 0
    assert await desk.statuses() == {"m-1": "pending"}


async def test_once_it_answers_people_are_told_and_the_next_fault_is_told_again(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    desk.clock.advance(300)
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.begin(held, "m-1", turn="turn-2")
    await desk.say(held, "the answer", turn="turn-2")
    await desk.end(held, "m-1", turn="turn-2")
    await desk.hear("m-2")
    again = await desk.start_agent("agent-3", turn="turn-3")
    await desk.begin(again, "m-2", turn="turn-3")
    await desk.end(again, "m-2", turn="turn-3", status=TurnStatus.ERROR, code="PROGRAM_MISSING")

    assert await desk.texts() == [
        say(Say.NOT_SET_UP, "en"),
        "the answer",
        say(Say.WORKING_AGAIN, "en"),
        say(Say.NOT_SET_UP, "en"),
    ]
    assert len(await desk.texts(OTHER_CHAT)) == 2


def be_refused(tx: Transaction, desk: Desk, held: Agent) -> None:
    """It can't be started as it is set up."""
    agent = agents.get(tx, held.agent_id)
    assert agent is not None
    tell_not_set_up(tx, desk.services, agent, why="No key.", at=desk.now)
    hold(tx, desk.services, agent, messages.of_agent(tx, agent.agent_id), incident=NOT_SET_UP, at=desk.now)


async def test_what_a_chat_waits_for_is_of_the_definition_as_it_is_now(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    first = (await chat_view(desk.services, CHAT, after=0)).held_by
    desk.clock.advance(300)
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.run(lambda tx: be_refused(tx, desk, held))
    then = (await chat_view(desk.services, CHAT, after=0)).held_by

    assert (first, then) == (("program",), ("setup",))
    assert len(await desk.texts(OTHER_CHAT)) == 2


async def test_a_provider_that_is_away_is_what_a_chat_waits_for_once_its_agent_could_be_started(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    first = await desk.start_agent("agent-1")
    await desk.run(lambda tx: be_refused(tx, desk, first))
    desk.clock.advance(300)
    await fail_to_begin(desk, 2, "PROVIDER_OVERLOADED")

    assert (await chat_view(desk.services, CHAT, after=0)).held_by == ("provider",)


async def test_nothing_is_said_to_be_waited_for_while_an_agent_is_at_work_with_all_there_is(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    desk.clock.advance(300)
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.begin(held, "m-1", turn="turn-2")

    during = (await chat_view(desk.services, CHAT, after=0)).held_by
    error = TurnError(code="PROGRAM_MISSING", message="x")
    event = TurnEnded(turn_id=TurnId("turn-2"), inputs=("m-1",), status=TurnStatus.ERROR, error=error)
    await desk.end_as(held, event, needed=NEEDED)
    again = (await chat_view(desk.services, CHAT, after=0)).held_by

    assert (during, again) == ((), ("program",))


async def test_who_writes_to_a_chat_that_waits_is_told_again_but_not_at_every_breath(desk: Desk) -> None:
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    counts = [len(await desk.texts())]
    for number, pause_s in enumerate((1, 15, 1, 60), start=2):
        desk.clock.advance(pause_s)
        await desk.hear(f"m-{number}")
        counts.append(len(await desk.texts()))
    await desk.hear("m-9", "between us")

    assert counts == [1, 1, 2, 2, 3]
    assert set(await desk.texts()) == {say(Say.NOT_SET_UP, "en")}


async def test_while_an_agent_is_at_work_with_all_that_waited_nobody_is_told_again(desk: Desk) -> None:
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    desk.clock.advance(300)
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.begin(held, "m-1", turn="turn-2")
    await desk.hear("m-2")

    assert await desk.texts() == [say(Say.NOT_SET_UP, "en")]


async def test_one_that_starts_and_fails_by_the_next_fault_is_not_said_to_work_again(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "boss", OTHER_CHAT, is_main=1))
    await desk.hear("m-1")
    first = await desk.start_agent("agent-1")
    await desk.run(lambda tx: be_refused(tx, desk, first))
    desk.clock.advance(300)
    second = await desk.start_agent("agent-2", turn="turn-2")
    await desk.run(lambda tx: note_good_start(tx, desk.services, second, at=desk.now))
    await desk.begin(second, "m-1", turn="turn-2")
    await desk.end(second, "m-1", turn="turn-2", status=TurnStatus.ERROR, code="PROGRAM_MISSING")
    faulty = await desk.texts()
    desk.clock.advance(300)
    third = await desk.start_agent("agent-3", turn="turn-3")
    await desk.begin(third, "m-1", turn="turn-3")
    await desk.say(third, "the answer", turn="turn-3")
    await desk.end(third, "m-1", turn="turn-3")

    assert faulty == [say(Say.NOT_SET_UP, "en")] * 2
    assert (await desk.texts())[2:] == ["the answer", say(Say.WORKING_AGAIN, "en")]


async def test_in_the_operators_own_chat_one_fault_is_one_text(desk: Desk) -> None:
    await desk.run(lambda tx: tx.execute("UPDATE groups SET is_main = 1"))
    await desk.hear("m-1")
    await fail_to_begin(desk, 1, "PROGRAM_MISSING")
    texts = await desk.texts()
    desk.clock.advance(300)
    held = await desk.start_agent("agent-2", turn="turn-2")
    await desk.run(lambda tx: be_refused(tx, desk, held))

    assert len(texts) == 1
    assert MISSING in texts[0]
    assert len(await desk.texts()) == 2
    assert "No key." in (await desk.texts())[1]
