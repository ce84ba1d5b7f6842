"""Requests of a box: authorised, done once, answered. Source: contracts.md section 3."""

from dataclasses import replace

import pytest

from orchestrator.commands.execute import execute_request, unwritten_replies
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RequestId, TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.replies import Reply
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.store import agents, requests
from orchestrator.store.requests import RequestKey
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, agent

CALLER = AgentCaller(
    agent_id=AgentId("agent-1"),
    box=BoxName("family"),
    group=GroupFolder("family"),
    chat_jid=CHAT,
    is_main=False,
)
KEY = RequestKey(
    box=BoxName("family"), directory="messages", name="1.json", inode=7, ctime_ns=9, sha256=b"\1" * 32
)


def remember(tx: Transaction, caller: AgentCaller) -> None:
    """The record of an agent: operators alone spoke to it."""
    if agents.get(tx, caller.agent_id) is None:
        agents.add(tx, agent(caller.agent_id, is_main=caller.is_main))


async def ask(
    desk: Desk,
    text: str = "hello",
    *,
    key: RequestKey = KEY,
    request_id: str | None = None,
    caller: AgentCaller = CALLER,
    chat: Jid = CHAT,
    sender: str | None = None,
) -> Reply:
    wanted = None if request_id is None else RequestId(request_id)
    await desk.run(lambda tx: remember(tx, caller))
    request = SendMessage(chat_jid=chat, text=text, request_id=wanted, sender=sender)
    return await execute_request(desk.services, caller, request, key=key, request_id=wanted)


async def test_a_request_has_its_effect_and_its_answer(desk: Desk) -> None:
    reply = await ask(desk, request_id="r-1")

    assert reply == Reply(request_id=RequestId("r-1"), ok=True, result={"status": "queued"})
    assert await desk.texts() == ["hello"]


async def test_a_file_met_again_has_no_second_effect_and_the_same_answer(desk: Desk) -> None:
    first = await ask(desk)

    again = await ask(desk)

    assert again == first
    assert await desk.texts() == ["hello"]


async def test_an_id_used_again_with_the_same_body_gives_the_stored_answer(desk: Desk) -> None:
    first = await ask(desk, request_id="r-1")

    again = await ask(desk, request_id="r-1", key=replace(KEY, name="2.json", inode=8))

    assert again == first
    assert await desk.texts() == ["hello"]


async def test_an_id_used_again_for_something_else_is_refused(desk: Desk) -> None:
    await ask(desk, request_id="r-1")

    again = await ask(desk, "other", request_id="r-1", key=replace(KEY, name="2.json", sha256=b"\2" * 32))

    assert again.error is not None
    assert again.error.code == "INVALID_REQUEST"
    assert await desk.texts() == ["hello"]


async def test_two_agents_may_use_the_same_id(desk: Desk) -> None:
    await ask(desk, request_id="r-1")

    other = replace(CALLER, agent_id=AgentId("agent-2"))
    await ask(desk, request_id="r-1", caller=other, key=replace(KEY, name="2.json"))

    assert await desk.texts() == ["hello", "hello"]


async def test_a_name_used_again_after_its_file_is_gone_is_a_new_request(desk: Desk) -> None:
    await ask(desk)
    await desk.run(lambda tx: requests.close(tx, KEY))

    await ask(desk, key=replace(KEY, ctime_ns=10))

    assert await desk.texts() == ["hello", "hello"]


@pytest.mark.parametrize(
    ("chat", "is_main", "code"),
    [
        pytest.param(CHAT, False, None, id="own chat"),
        pytest.param(OTHER_CHAT, False, "FORBIDDEN", id="another chat"),
        pytest.param(Jid("nobody@g.us"), False, "FORBIDDEN", id="an unregistered chat"),
        pytest.param(OTHER_CHAT, True, None, id="main: another chat"),
        pytest.param(Jid("nobody@g.us"), True, "NOT_REGISTERED", id="main: an unregistered chat"),
    ],
)
async def test_d_e_to_which_chats_an_agent_may_send(
    desk: Desk, chat: Jid, is_main: bool, code: str | None
) -> None:
    """Case D-e."""
    await desk.run(lambda tx: add_group(tx, "other", OTHER_CHAT))

    reply = await ask(desk, chat=chat, caller=replace(CALLER, is_main=is_main))

    assert (None if reply.error is None else reply.error.code) == code
    assert await desk.texts(chat) == (["hello"] if code is None else [])


async def test_a_refusal_is_an_answer_that_is_remembered(desk: Desk) -> None:
    first = await ask(desk, chat=OTHER_CHAT, request_id="r-1")
    await desk.run(lambda tx: add_group(tx, "other", OTHER_CHAT))

    again = await ask(desk, chat=OTHER_CHAT, request_id="r-1", caller=replace(CALLER, is_main=True))

    assert again == first
    assert not again.ok
    assert await desk.texts(OTHER_CHAT) == []


@pytest.mark.parametrize("text", ["", " \n", "\x00", "<internal>secret</internal>"])
async def test_a_text_with_nothing_to_see_is_refused(desk: Desk, text: str) -> None:
    reply = await ask(desk, text)

    assert reply.error is not None
    assert reply.error.code == "INVALID_REQUEST"
    assert await desk.texts() == []


async def test_a_role_is_shown_before_the_text(desk: Desk) -> None:
    await ask(desk, "done", sender="cook\n")

    assert await desk.texts() == ["[cook] done"]


async def test_an_effect_counts_for_the_turn_it_was_asked_in_and_a_refusal_does_not(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await desk.begin(held, "m-1")
    in_turn = replace(CALLER, turn_id=TurnId("turn-1"))

    await ask(desk, caller=in_turn)
    await ask(desk, caller=in_turn, chat=OTHER_CHAT, key=replace(KEY, name="2.json"))

    turn = await desk.run(lambda tx: agents.turn(tx, held.agent_id, TurnId("turn-1")))
    assert turn is not None
    assert (turn.effects, turn.outputs) == (1, 0)


async def test_answers_that_may_be_unwritten_are_told_at_a_start(desk: Desk) -> None:
    reply = await ask(desk, request_id="r-1")
    await ask(desk, key=replace(KEY, name="2.json"))

    left = await unwritten_replies(desk.services)
    await desk.run(lambda tx: requests.close(tx, KEY))

    assert left == [(BoxName("family"), reply)]
    assert await unwritten_replies(desk.services) == []


async def test_a_request_that_overtakes_its_turns_event_counts_for_that_turn_all_the_same(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()
    await ask(desk, "paid 100 EUR")

    await desk.begin(held, "m-1")
    await desk.end(held, "m-1")

    assert await desk.statuses() == {"m-1": "settled"}
    assert await desk.texts() == ["paid 100 EUR"]


@pytest.mark.parametrize("named", ["turn-1", "a-turn-of-its-own"])
async def test_a_request_before_the_event_of_its_turn_is_never_done_twice_by_a_death(
    desk: Desk, named: str
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent(turn="turn-1")
    await ask(desk, "paid 100 EUR")
    await desk.begin(held, "m-1", turn=named)

    await desk.die(held)

    assert await desk.statuses() == {"m-1": "partial"}
    assert (await desk.texts())[:1] == ["paid 100 EUR"]


async def test_a_request_during_a_turn_counts_also_for_the_follow_up_that_may_have_made_it(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent(turn="turn-1")
    await desk.begin(held, "m-1", turn="turn-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await ask(desk, "paid 100 EUR", caller=replace(CALLER, turn_id=TurnId("turn-1")))
    await desk.end(held, "m-1", turn="turn-1")
    await desk.begin(held, "m-2", turn="turn-2")

    await desk.die(held)

    assert await desk.statuses() == {"m-1": "settled", "m-2": "partial"}


async def overlapping(desk: Desk) -> Agent:
    """An agent in its first turn, to which a second one was given meanwhile."""
    await desk.hear("m-1")
    held = await desk.start_agent(turn="turn-1")
    await desk.begin(held, "m-1", turn="turn-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    return held


@pytest.mark.parametrize("silent", ["turn-1", "turn-2"])
async def test_a_silent_turn_is_told_though_a_request_of_the_turn_beside_it_counts_for_it(
    silent: str, desk: Desk
) -> None:
    held = await overlapping(desk)
    desk.clock.advance(1)
    await ask(desk, "paid 100 EUR")

    for number in (1, 2):
        if (turn := f"turn-{number}") != silent:
            await desk.say(held, f"re {number}", turn=turn)
        await desk.end(held, f"m-{number}", turn=turn)

    assert await desk.statuses() == {"m-1": "settled", "m-2": "settled"}
    assert (await desk.texts()).count(ENGLISH[Say.MAYBE_UNANSWERED]) == 1
    assert ENGLISH[Say.EMPTY_ANSWER] not in await desk.texts()


async def test_a_silent_turn_that_surely_did_something_is_an_answer_though_another_was_open_beside_it(
    desk: Desk,
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent(turn="turn-1")
    await desk.begin(held, "m-1", turn="turn-1")
    await ask(desk, "paid 100 EUR")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await desk.end(held, "m-1", turn="turn-1")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "dispatched"}
    assert await desk.texts() == ["paid 100 EUR"]


async def test_a_request_of_a_turn_is_its_answer_though_the_one_before_it_asked_as_well(desk: Desk) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent(turn="turn-1")
    await ask(desk, "paid 100 EUR")
    await desk.end(held, "m-1", turn="turn-1")
    await desk.hear("m-2")
    await desk.feed(held, turn="turn-2", stem="1-a")
    await ask(desk, "paid 200 EUR", key=replace(KEY, name="2.json"))

    await desk.end(held, "m-2", turn="turn-2")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "settled"}
    assert await desk.texts() == ["paid 100 EUR", "paid 200 EUR"]


async def test_a_request_of_a_turn_that_took_a_follow_up_in_is_its_answer(desk: Desk) -> None:
    held = await overlapping(desk)
    await desk.begin(held, "m-1", "m-2", turn="turn-1")
    await ask(desk, "paid 100 EUR")

    await desk.end(held, "m-1", "m-2", turn="turn-1")

    assert await desk.statuses() == {"m-1": "settled", "m-2": "settled"}
    assert await desk.texts() == ["paid 100 EUR"]


async def test_a_turn_that_went_into_another_takes_no_request_from_a_third(desk: Desk) -> None:
    held = await overlapping(desk)
    await desk.hear("m-3")
    await desk.feed(held, turn="turn-3", stem="2-a")
    await desk.begin(held, "m-1", "m-2", turn="turn-1")
    desk.clock.advance(1)
    await ask(desk, "paid 100 EUR")
    await desk.end(held, "m-1", "m-2", turn="turn-1")
    await ask(desk, "paid 200 EUR", key=replace(KEY, name="2.json"))

    await desk.end(held, "m-3", turn="turn-3")

    assert (await desk.texts())[-1] == "paid 200 EUR"
