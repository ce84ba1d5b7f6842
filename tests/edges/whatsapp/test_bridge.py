"""The WhatsApp child may die, hang or talk nonsense at any time: no message is lost."""

import asyncio
import os
import signal
from dataclasses import replace

import pytest

from orchestrator.contracts.errors import InvalidRequest, Unavailable
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.seams import SendRefused, SendUnavailable, SendUnknown
from tests.edges.whatsapp.conftest import QUICK, Desk, MakeDesk, to_choir
from tests.support.eventually import eventually
from tests.support.whatsapp_double import Fault


async def test_what_people_write_is_handed_on_in_order_and_leaves_no_row(desk: Desk) -> None:
    for number in range(200):
        desk.far.write(f"text {number}")

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: len(desk.met) == 200 and not desk.far.rows)

    assert [each.text for each in desk.met] == [f"text {number}" for number in range(200)]
    assert len(desk.far.lives) == 1


@pytest.mark.parametrize("fault", [Fault.ABORT, Fault.GARBAGE, Fault.ENDLESS_LINE])
async def test_a_child_that_fails_at_a_message_is_started_again_and_the_message_is_handed_on(
    fault: Fault, desk: Desk
) -> None:
    desk.far.set_faults(("heard:second", fault))
    for text in ("first", "second", "third"):
        desk.far.write(text)

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: not desk.far.rows and len(desk.texts) == 3)
    await eventually(lambda: desk.channel.is_connected)

    assert desk.texts == ["first", "second", "third"]
    assert len(desk.far.lives) == 2


async def test_what_the_child_said_at_its_end_is_told(desk: Desk) -> None:
    desk.far.set_faults(("heard:hello", Fault.ABORT))
    desk.far.write("hello")

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.whys)

    assert "SIGABRT: panic: runtime error" in desk.whys[0]


async def test_g4_a_child_that_hangs_is_killed_before_the_next_begins(make_desk: MakeDesk) -> None:
    """Case G4: the double takes a lock, so that a second one beside it would fail."""
    desk = make_desk(rule=replace(QUICK, silence_s=5))
    desk.far.set_faults(("heard:hello", Fault.HANG))
    desk.far.write("hello")

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.texts == ["hello"] and not desk.far.rows)

    for earlier in desk.far.lives[:-1]:
        with pytest.raises(ProcessLookupError):
            os.kill(earlier["pid"], 0)
    assert any("it has said nothing for 5 s" in why for why in desk.whys)


async def test_a_flood_of_messages_that_nobody_asked_for_ends_the_child(desk: Desk) -> None:
    desk.far.set_faults(("heard:hello", Fault.FLOOD))
    desk.far.write("hello")

    async def busy_inbox(message: InboundMessage) -> None:
        if message.text.startswith("flood"):
            await asyncio.Event().wait()  # until the child is given up
        await desk.inbox(message)

    await desk.channel.connect(busy_inbox)
    await eventually(lambda: "hello" in desk.texts and not desk.far.rows)

    assert any("it did not wait after 64 messages" in why for why in desk.whys)


async def test_a_child_killed_by_a_signal_again_and_again_loses_nothing(desk: Desk) -> None:
    await desk.channel.connect(desk.inbox)

    for number in range(5):
        for text in range(20):
            desk.far.write(f"text {number}-{text}")
        await eventually(lambda number=number: len(desk.far.lives) > number)
        os.kill(desk.far.lives[-1]["pid"], signal.SIGKILL)
    await eventually(lambda: len(desk.texts) == 100 and not desk.far.rows)

    assert desk.texts == [f"text {number}-{text}" for number in range(5) for text in range(20)]


async def test_there_are_never_two_children_at_once(desk: Desk) -> None:
    """The double takes a lock at its start, and fails without it."""
    await desk.channel.connect(desk.inbox)
    for _ in range(3):
        await desk.channel.connect(desk.inbox)

    with pytest.raises(ProcessLookupError):
        os.kill(desk.far.lives[-2]["pid"], 0)
    assert [each["generation"] for each in desk.far.lives] == [1, 1, 1, 1]
    assert desk.whys == []


async def test_a_child_of_another_version_is_not_talked_to(desk: Desk) -> None:
    desk.far.set_faults(("start:", Fault.OTHER_VERSION))
    desk.far.write("hello")

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.texts == ["hello"])

    assert any("it speaks version 2, we speak 1" in why for why in desk.whys)


async def test_a_message_that_cannot_be_stored_now_waits_on_the_disk_and_holds_up_no_other_chat(
    desk: Desk,
) -> None:
    stored: list[str] = []

    async def inbox(message: InboundMessage) -> None:
        if message.text == "early" and "other chat" not in stored:
            raise Unavailable("The disk is full.")
        stored.append(message.text)

    desk.far.write("early")
    desk.far.write("same chat")
    desk.far.write("other chat", chat_jid="120363000000000002@g.us")
    await desk.channel.connect(inbox)
    await eventually(lambda: len(stored) == 3 and not desk.far.rows)

    assert stored == ["other chat", "early", "same chat"]


async def test_a_message_that_will_never_be_taken_leaves_and_holds_up_no_other(desk: Desk) -> None:
    async def inbox(message: InboundMessage) -> None:
        if message.text == "bad":
            raise InvalidRequest("Its id is off.")
        await desk.inbox(message)

    desk.far.write("bad")
    desk.far.write("good")
    await desk.channel.connect(inbox)
    await eventually(lambda: desk.texts == ["good"] and not desk.far.rows)

    assert len(desk.far.lives) == 1


async def test_g14_a_message_that_we_have_a_fault_at_is_set_aside_and_all_others_are_handed_on(
    desk: Desk,
) -> None:
    """Case G14."""

    async def inbox(message: InboundMessage) -> None:
        if message.text == "bad":
            raise OverflowError("a fault of ours")
        await desk.inbox(message)

    for text in ("before", "bad", "after"):
        desk.far.write(text)
    await desk.channel.connect(inbox)
    await eventually(lambda: len(desk.met) == 2 and not desk.far.rows)

    assert desk.texts == ["before", "after"]
    assert len(desk.far.lives) == 1
    assert len(list((desk.far.spool / "bad").iterdir())) == 1


async def test_what_was_not_stored_when_we_were_killed_is_said_again_to_the_next(desk: Desk) -> None:
    async def never(message: InboundMessage) -> None:
        await asyncio.Event().wait()

    desk.far.write("hello")
    await desk.channel.connect(never)
    await eventually(lambda: desk.far.rows)
    await desk.channel.close()

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: not desk.far.rows)

    assert [each.text for each in desk.met] == ["hello"]


async def test_a_text_whose_answer_was_lost_with_the_child_is_unknown(desk: Desk) -> None:
    desk.far.set_faults(("send:hello", Fault.ABORT))
    await desk.channel.connect(desk.inbox)

    with pytest.raises(SendUnknown):
        await desk.channel.send(to_choir("hello"))

    assert desk.far.sent == ["hello"]


async def test_a_text_that_the_child_never_took_is_certainly_not_sent(desk: Desk) -> None:
    desk.far.set_faults(("send:hello", Fault.DIE_UNTAKEN))
    await desk.channel.connect(desk.inbox)

    with pytest.raises(SendUnavailable):
        await desk.channel.send(to_choir("hello"))

    assert desk.far.sent == []


async def test_a_text_that_is_not_answered_in_time_is_unknown(make_desk: MakeDesk) -> None:
    desk = make_desk(rule=replace(QUICK, send_within_s=0.5))
    desk.far.set_faults(("send:hello", Fault.LOSE_ANSWER))
    await desk.channel.connect(desk.inbox)

    with pytest.raises(SendUnknown):
        await desk.channel.send(to_choir("hello"))


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.NOT_SENT, SendUnavailable), (Fault.REFUSE_SEND, SendRefused)]
)
async def test_what_the_network_says_of_a_text_is_passed_on(
    fault: Fault, error: type[Exception], desk: Desk
) -> None:
    desk.far.set_faults(("send:hello", fault))
    await desk.channel.connect(desk.inbox)

    with pytest.raises(error, match="as told"):
        await desk.channel.send(to_choir("hello"))
