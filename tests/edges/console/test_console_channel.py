"""The console channel, with the engine's own wake-ups."""

from pathlib import Path

import pytest

from orchestrator.channels.console import ConsoleChannel
from orchestrator.contracts.errors import ErrorCode, InvalidRequest, Unavailable
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage
from orchestrator.contracts.seams import Channel, ConsoleDoor, Topic
from orchestrator.engine.wakeups import TopicWakeups
from tests.support.manual_clock import ManualClock

MAIN = Jid("console:main")


@pytest.fixture
def wakeups() -> TopicWakeups:
    return TopicWakeups()


@pytest.fixture
def console(wakeups: TopicWakeups, tmp_path: Path) -> ConsoleChannel:
    return ConsoleChannel(
        clock=ManualClock(), wakeups=wakeups, file_path=lambda number, name: tmp_path / str(number) / name
    )


@pytest.mark.parametrize(
    ("jid", "is_ours"),
    [("console:main", True), ("console:x", True), ("console:", False), ("1203@g.us", False), ("", False)],
)
def test_the_console_owns_its_chats_and_no_others(console: ConsoleChannel, jid: str, is_ours: bool) -> None:
    assert console.owns(Jid(jid)) is is_ours


def test_the_console_is_a_channel_and_a_door(console: ConsoleChannel) -> None:
    channel: Channel = console
    door: ConsoleDoor = console

    assert channel.name == "console"
    assert not door.is_typing(MAIN)


async def test_what_is_received_is_handed_on_before_its_id_is_given(console: ConsoleChannel) -> None:
    stored: list[InboundMessage] = []

    async def inbox(message: InboundMessage) -> None:
        stored.append(message)

    await console.connect(inbox)
    message_id = await console.receive(MAIN, "hello", sender_name="Ada")

    assert [(m.chat_jid, m.message_id, m.sender_name, m.text) for m in stored] == [
        (MAIN, message_id, "Ada", "hello")
    ]
    assert stored[0].sent_at == ManualClock().now()
    assert not stored[0].is_from_me


async def test_two_messages_have_two_ids_and_a_given_id_is_kept(console: ConsoleChannel) -> None:
    async def inbox(message: InboundMessage) -> None: ...

    await console.connect(inbox)
    first = await console.receive(MAIN, "hello")
    second = await console.receive(MAIN, "hello")
    given = await console.receive(MAIN, "hello", message_id=MessageId("m1"))

    assert first != second
    assert given == "m1"


@pytest.mark.parametrize(("chat", "text"), [("1203@g.us", "hello"), ("console:main", " \n ")])
async def test_a_foreign_chat_and_an_empty_text_are_refused(
    console: ConsoleChannel, chat: str, text: str
) -> None:
    async def inbox(message: InboundMessage) -> None: ...

    await console.connect(inbox)

    with pytest.raises(InvalidRequest):
        await console.receive(Jid(chat), text)


async def test_nothing_is_taken_before_the_door_is_open_or_after_it_closed(console: ConsoleChannel) -> None:
    async def inbox(message: InboundMessage) -> None: ...

    with pytest.raises(Unavailable) as before:
        await console.receive(MAIN, "hello")
    await console.connect(inbox)
    await console.close()
    with pytest.raises(Unavailable):
        await console.receive(MAIN, "hello")

    assert before.value.code is ErrorCode.CHANNEL_UNAVAILABLE
    assert not console.is_connected


async def test_every_text_is_accepted_and_its_id_is_the_same_on_every_attempt(
    console: ConsoleChannel,
) -> None:
    message = OutboundMessage(chat_jid=MAIN, text="hi", outbox_id=7)

    receipts = [await console.send(message) for _ in range(2)]

    assert receipts[0] == receipts[1]
    assert receipts[0].message_id == "out-7"


async def test_typing_is_kept_by_chat_and_wakes_those_who_look(
    console: ConsoleChannel, wakeups: TopicWakeups
) -> None:
    ear = wakeups.listen(Topic.CHAT_VIEW)

    await console.set_typing(MAIN, is_typing=True)
    is_woken = await ear.wait(at_most_s=1)
    await console.set_typing(MAIN, is_typing=True)
    is_woken_again = await ear.wait(at_most_s=0.01)

    assert console.is_typing(MAIN)
    assert not console.is_typing(Jid("console:other"))
    assert (is_woken, is_woken_again) == (True, False)
    await console.close()
    assert not console.is_typing(MAIN)
