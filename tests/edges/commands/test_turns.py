"""The life of a turn: begun, its pairs taken, ended well or badly."""

import pytest

from orchestrator.commands.command import Context
from orchestrator.commands.running.holds import note_good_start
from orchestrator.commands.saying.sending import prepare_message, send_message
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.store import agents, notices
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT


async def in_turn(desk: Desk, number: int = 1) -> Agent:
    """An agent that took message `m-{number}` into its turn."""
    held = await desk.start_agent(f"agent-{number}", turn=f"turn-{number}")
    await desk.begin(held, *(await desk.statuses()), turn=f"turn-{number}")
    return held


async def request(desk: Desk, held: Agent, text: str, *, turn: str = "turn-1") -> None:
    """The agent sends a text by request."""
    caller = AgentCaller(
        agent_id=held.agent_id,
        box=held.box,
        group=held.group,
        chat_jid=held.chat_jid,
        is_main=False,
        turn_id=TurnId(turn),
    )
    context = Context(services=desk.services, caller=caller, at=desk.now, key=f"key of {text}")
    prepared = await prepare_message(desk.services, caller, SendMessage(chat_jid=CHAT, text=text))
    await desk.run(lambda tx: send_message(tx, context, prepared))


async def test_a_turn_that_answers_settles_all_it_was_given_and_moves_the_cursor(desk: Desk) -> None:
    await desk.hear("c-1", "talk")
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.say(held, "answer")

    await desk.end(held, "c-1", "m-1")

    (cursor,) = await desk.run(lambda tx: tx.all("SELECT * FROM cursors"))
    assert await desk.statuses() == {"c-1": "settled", "m-1": "settled"}
    assert (cursor["chat_jid"], cursor["seq"]) == (CHAT, 2)


async def test_an_end_said_twice_changes_nothing(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.say(held, "answer")
    await desk.end(held, "m-1")

    await desk.end(held, "m-1", status=TurnStatus.ERROR)

    turn = await desk.run(lambda tx: agents.turn(tx, held.agent_id, TurnId("turn-1")))
    assert await desk.statuses() == {"m-1": "settled"}
    assert await desk.texts() == ["answer"]
    assert turn is not None
    assert turn.outcome == "success"


async def test_d_12_a_turn_settles_nothing_that_its_agent_was_not_given(desk: Desk) -> None:
    """Case D-12."""
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.say(held, "answer")
    await desk.hear("m-2")

    await desk.end(held, "m-1", "m-2", "never heard of")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "pending"}


async def test_a12_an_empty_success_is_asked_once_more_and_then_people_are_told(desk: Desk) -> None:
    """Case A12."""
    await desk.hear("m-1")
    first = await in_turn(desk, 1)
    await desk.end(first, "m-1", turn="turn-1")
    nudged = await desk.row("m-1")
    texts_between = await desk.texts()
    second = await in_turn(desk, 2)

    await desk.end(second, "m-1", turn="turn-2")

    assert (nudged["status"], nudged["is_nudged"], nudged["tries"]) == ("pending", 1, 0)
    assert texts_between == []
    assert await desk.statuses() == {"m-1": "settled"}
    assert await desk.texts() == [ENGLISH[Say.EMPTY_ANSWER]]


async def test_an_empty_success_is_told_of_what_was_asked_twice_though_others_are_asked_once_more(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    first = await in_turn(desk, 1)
    await desk.end(first, "m-1", turn="turn-1")
    await desk.hear("m-2")
    second = await in_turn(desk, 2)

    await desk.end(second, "m-1", "m-2", turn="turn-2")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "pending"}
    assert await desk.texts() == [ENGLISH[Say.EMPTY_ANSWER]]


async def test_chatter_needs_no_answer(desk: Desk) -> None:
    await desk.hear("c-1", "talk")
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "c-1")

    await desk.end(held, "c-1")

    assert await desk.statuses() == {"c-1": "settled", "m-1": "dispatched"}
    assert await desk.texts() == []


@pytest.mark.parametrize("said", ["", "   \n", "<internal>thinking</internal>"])
async def test_a_pair_with_nothing_to_show_is_not_sent(desk: Desk, said: str) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)

    queued = await desk.say(held, said)

    assert not queued
    assert await desk.texts() == []


async def test_the_same_pair_is_sent_once(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.say(held, "answer", ordinal=1)

    again = await desk.say(held, "answer", ordinal=1)

    assert not again
    assert await desk.texts() == ["answer"]


@pytest.mark.parametrize(
    ("pair", "is_sent"),
    [
        pytest.param("Dinner is at  seven.\n", False, id="equal but for white space"),
        pytest.param("Dinner is at eight.", True, id="another text"),
    ],
)
async def test_a_pair_that_repeats_a_text_sent_in_this_turn_is_recorded_only(
    desk: Desk, pair: str, is_sent: bool
) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await request(desk, held, "Dinner is at seven.")

    queued = await desk.say(held, pair)

    turn = await desk.run(lambda tx: agents.turn(tx, held.agent_id, TurnId("turn-1")))
    assert queued == is_sent
    assert len(await desk.texts()) == 1 + is_sent
    assert turn is not None
    assert turn.outputs == 1


async def test_a_text_of_an_earlier_turn_may_be_said_again(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await request(desk, held, "Dinner is at seven.")
    await desk.end(held, "m-1")

    queued = await desk.say(held, "Dinner is at seven.", turn="turn-2")

    assert queued


@pytest.mark.parametrize("code", ["PROVIDER_RATE_LIMITED", "PROVIDER_OVERLOADED"])
async def test_provider_trouble_holds_the_chat_is_told_once_and_costs_no_try(desk: Desk, code: str) -> None:
    await desk.hear("m-1")
    waits = []

    for number in range(1, 10):
        held = await in_turn(desk, number)
        await desk.end(held, "m-1", turn=f"turn-{number}", status=TurnStatus.ERROR, code=code)
        waits.append(round(await desk.due_in_s("m-1")))
        desk.clock.advance(300)

    row = await desk.row("m-1")
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert await desk.texts() == [ENGLISH[Say.PROVIDER_TROUBLE]]
    assert (row["tries"], row["deaths"]) == (0, 0)


async def test_when_the_provider_is_back_there_is_one_all_clear(desk: Desk) -> None:
    await desk.hear("m-1")
    first = await in_turn(desk, 1)
    await desk.end(first, "m-1", turn="turn-1", status=TurnStatus.ERROR, code="PROVIDER_OVERLOADED")
    desk.clock.advance(60)
    second = await in_turn(desk, 2)
    await desk.say(second, "answer", turn="turn-2")
    await desk.end(second, "m-1", turn="turn-2")
    await desk.hear("m-2")
    third = await in_turn(desk, 3)
    await desk.say(third, "another answer", turn="turn-3")

    await desk.end(third, "m-2", turn="turn-3")

    assert await desk.texts() == [
        ENGLISH[Say.PROVIDER_TROUBLE],
        "answer",
        ENGLISH[Say.PROVIDER_BACK],
        "another answer",
    ]


async def test_a_message_is_held_for_a_day_at_most(desk: Desk) -> None:
    await desk.hear("m-1")
    statuses = []

    for number, pause_s in enumerate((0, 23 * 3600, 2 * 3600), start=1):
        desk.clock.advance(pause_s)
        held = await in_turn(desk, number)
        turn = f"turn-{number}"
        await desk.end(held, "m-1", turn=turn, status=TurnStatus.ERROR, code="PROVIDER_OVERLOADED")
        statuses.append((await desk.statuses())["m-1"])

    assert statuses == ["pending", "pending", "failed"]
    assert await desk.texts() == [ENGLISH[Say.PROVIDER_TROUBLE], ENGLISH[Say.HELD_TOO_LONG]]


async def test_provider_trouble_behind_a_text_is_a_turn_that_stopped_half_way(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.say(held, "half")

    await desk.end(held, "m-1", status=TurnStatus.ERROR, code="PROVIDER_OVERLOADED")

    assert await desk.statuses() == {"m-1": "partial"}
    assert await desk.texts() == ["half", ENGLISH[Say.PARTIAL]]


async def test_an_error_of_the_agents_own_is_a_try(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)

    await desk.end(held, "m-1", status=TurnStatus.ERROR, code="AGENT_ERROR")

    assert (await desk.row("m-1"))["tries"] == 1
    assert round(await desk.due_in_s("m-1")) == 5
    assert await desk.texts() == []


async def test_a_good_start_gives_the_all_clear_only_where_people_were_told(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.run(lambda tx: note_good_start(tx, desk.services, held, at=desk.now))
    silent = await desk.texts()
    await desk.run(lambda tx: notices.count_one(tx, f"disk:{CHAT}", at=desk.now))
    await desk.run(lambda tx: notices.mark_told(tx, f"disk:{CHAT}", at=desk.now))

    await desk.run(lambda tx: note_good_start(tx, desk.services, held, at=desk.now))

    assert silent == []
    assert await desk.texts() == [ENGLISH[Say.WORKING_AGAIN]]


async def test_a_follow_up_that_joins_a_turn_is_settled_with_it(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await in_turn(desk)
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await desk.begin(held, "m-1", "m-2", turn="turn-1")
    await desk.say(held, "both")

    await desk.end(held, "m-1", "m-2")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "settled"}
