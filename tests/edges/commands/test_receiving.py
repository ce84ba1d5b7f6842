"""What becomes of a message that a channel heard."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import structlog.testing

from orchestrator.commands.hearing.receiving import REFUSED_INCIDENTS
from orchestrator.commands.saying.delivery import claim_next, note_sent, note_unknown
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import (
    OutboxItem,
    OutboxStatus,
    Quoted,
    Receipt,
    ReceivedFile,
    SenderRole,
    SpooledFile,
    TextSource,
)
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import messages, outbox, outbox_files
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.eventually import eventually
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group


async def put_text(desk: Desk, text: str = "our text") -> None:
    """A text of ours, claimed: it is being sent."""

    def body(tx: Transaction) -> None:
        outbox.add(tx, chat_jid=CHAT, parts=[text], source=TextSource.NOTICE, source_key=text, at=desk.now)
        assert claim_next(tx, desk.services, CHAT, at=desk.now).item is not None

    await desk.run(body)


async def sending(desk: Desk) -> OutboxItem:
    (item,) = await desk.run(lambda tx: outbox.in_flight_of_chat(tx, CHAT))
    return item


async def test_b8_a_message_met_again_changes_nothing(desk: Desk) -> None:
    """Case B8."""
    await desk.hear("m-1", "@Andy first")

    await desk.hear("m-1", "@Andy second")

    batch = await desk.batch()
    assert batch is not None
    assert [each.text for each in batch.messages] == ["@Andy first"]


async def test_a18_a_chat_that_is_not_registered_is_warned_of_once_and_nothing_is_stored(desk: Desk) -> None:
    """Case A18."""
    with structlog.testing.capture_logs() as logs:
        for number in range(3):
            await desk.hear(f"m-{number}", chat_jid=OTHER_CHAT)
        await desk.hear("m-1", chat_jid=Jid("1205@g.us"))

    warned = [each["chat"] for each in logs if each["event"] == "chat.not_registered"]
    assert warned == [OTHER_CHAT, "1205@g.us"]
    assert all("dovecote group add" in each["suggestion"] for each in logs if "suggestion" in each)
    assert await desk.statuses(OTHER_CHAT) == {}


BAD_ID = "A\x00B"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"message_id": BAD_ID}, id="the message's"),
        pytest.param({"sender_jid": Jid("file:\ud800")}, id="the sender's"),
        pytest.param({"chat_jid": Jid("a" * 300 + "@g.us")}, id="the chat's"),
        pytest.param(
            {"quoted": Quoted(message_id=MessageId(BAD_ID), sender_name="Bob", text="so?")},
            id="the quoted one's",
        ),
    ],
)
async def test_a_message_with_an_id_that_no_network_may_give_is_never_taken(
    fields: dict[str, Any], desk: Desk
) -> None:
    with pytest.raises(InvalidRequest, match="The id of the"):
        await desk.hear(**({"message_id": "m-1"} | fields))

    assert await desk.run(lambda tx: tx.all("SELECT * FROM messages")) == []
    assert await desk.run(lambda tx: tx.all("SELECT * FROM chats")) == []


async def test_refused_messages_are_warned_of_once_a_chat_and_counted(desk: Desk) -> None:
    with structlog.testing.capture_logs() as logs:
        for chat in (CHAT, CHAT, OTHER_CHAT, Jid("x\x00"), Jid("y\x00")):
            with pytest.raises(InvalidRequest):
                await desk.hear(BAD_ID, chat_jid=chat)

    rows = await desk.run(
        lambda tx: tx.all("SELECT incident, count FROM notices ORDER BY opened_ms, incident")
    )
    assert [each["chat"] for each in logs if each["event"] == "message.refused"] == [CHAT, OTHER_CHAT, "test"]
    assert {row["incident"]: row["count"] for row in rows} == {
        f"{REFUSED_INCIDENTS}{CHAT}": 2,
        f"{REFUSED_INCIDENTS}{OTHER_CHAT}": 1,
        f"{REFUSED_INCIDENTS}test": 2,
    }


async def test_only_what_calls_the_assistant_triggers_in_a_group_that_requires_it(desk: Desk) -> None:
    await desk.hear("talk", "nice weather")
    await desk.hear("call", "@andy, how are you?")
    await desk.hear("longer", "@Andyman is away")
    ours = Quoted(message_id=MessageId("x"), sender_name="Andy", text="so?", is_ours=True)
    await desk.hear("reply", "yes", quoted=ours)
    await desk.hear("reply to Bob", "yes", quoted=replace(ours, is_ours=False))

    triggers = await desk.run(lambda tx: messages.pending_triggers(tx, CHAT))

    assert [each.message_id for each in triggers] == ["call", "reply"]


async def test_every_message_triggers_in_the_main_group(desk: Desk) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))

    await desk.hear("m-1", "nice weather", chat_jid=OTHER_CHAT)

    assert await desk.batch(OTHER_CHAT) is not None


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        pytest.param({}, SenderRole.MEMBER, id="anybody"),
        pytest.param({"sender_jid": BOB}, SenderRole.OPERATOR, id="named in the settings"),
        pytest.param({"sender_jid": BOB, "sender_is_bot": True}, SenderRole.BOT, id="a bot, whoever it is"),
        pytest.param({"sender_name": "Operator"}, SenderRole.MEMBER, id="a display name proves nothing"),
        pytest.param({"chat_jid": OTHER_CHAT}, SenderRole.OPERATOR, id="the main chat of one person"),
        pytest.param(
            {"chat_jid": OTHER_CHAT, "chat_is_group": True}, SenderRole.MEMBER, id="a main group chat"
        ),
    ],
)
async def test_what_a_sender_is_to_us(desk: Desk, fields: dict[str, Any], role: SenderRole) -> None:
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))

    await desk.hear("m-1", **fields)

    row = await desk.row("m-1", Jid(str(fields.get("chat_jid", CHAT))))
    assert row["sender_role"] == role


async def test_texts_and_names_are_cleaned_and_cut_before_they_are_stored(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy a\x00b\u202ec", sender_name="An\nn\x1b[31m")
    await desk.hear("m-2", "@Andy " + "x" * MAX_TEXT_BYTES)

    first, second = await desk.row("m-1"), await desk.row("m-2")

    assert (first["text"], first["sender_name"]) == ("@Andy abc", "An n[31m")
    assert len(second["text"].encode()) <= MAX_TEXT_BYTES
    assert second["text"].startswith("@Andy xxx")


async def test_b7_the_id_of_a_text_we_sent_is_not_a_message(desk: Desk) -> None:
    """Case B7: our own texts come back from the network."""
    await put_text(desk, "@Andy our text")
    item = await sending(desk)
    receipt = Receipt(message_id=MessageId("net-1"))
    await desk.run(lambda tx: note_sent(tx, item, receipt, at=desk.now))

    await desk.hear("net-1", "@Andy our text", is_from_me=True)
    await desk.hear("net-1", "@Andy our text")

    assert await desk.statuses() == {}


async def test_an_own_number_message_that_is_no_text_of_ours_is_the_owner_speaking(desk: Desk) -> None:
    await desk.hear("m-1", "@Andy hello", is_from_me=True)

    assert await desk.statuses() == {"m-1": "pending"}


async def test_the_echo_of_a_text_whose_fate_is_unknown_makes_it_sent(desk: Desk) -> None:
    await put_text(desk)
    item = await sending(desk)
    await desk.run(lambda tx: note_unknown(tx, item, why="connection lost", at=desk.now))

    await desk.hear("net-1", "our text", is_from_me=True)

    async with desk.services.db.reader() as reader:
        (text,) = await outbox.texts_after(reader, CHAT, after_id=0, count=9)
    assert (text.status, text.channel_message_id) == (OutboxStatus.SENT, "net-1")
    assert await desk.statuses() == {}


async def test_a_text_without_a_file_is_no_echo_of_the_same_text_with_one(desk: Desk) -> None:
    await put_text(desk)
    item = await sending(desk)
    file = SpooledFile(name="a.txt", media_type="text/plain", size_bytes=1, spool_name="copy")
    await desk.run(lambda tx: outbox_files.attach(tx, item.id, file))
    await desk.run(lambda tx: note_unknown(tx, item, why="connection lost", at=desk.now))

    await desk.hear("m-1", "our text", is_from_me=True)
    came = ReceivedFile(name="a.txt", media_type="text/plain", size_bytes=1, source=None)
    await desk.hear("net-1", "our text", is_from_me=True, files=(came,))

    async with desk.services.db.reader() as reader:
        (text,) = await outbox.texts_after(reader, CHAT, after_id=0, count=9)
    assert text.channel_message_id == "net-1"
    assert list(await desk.statuses()) == ["m-1"]


async def test_an_own_number_message_waits_for_a_text_in_flight_and_is_then_judged(desk: Desk) -> None:
    await put_text(desk)
    item = await sending(desk)

    async with asyncio.TaskGroup() as tasks:
        hearing = tasks.create_task(desk.hear("net-1", "our text", is_from_me=True))
        await eventually(lambda: desk.wakeups.listeners == 1)
        await desk.run(lambda tx: None)  # whatever it asked of the store is answered by now
        waited = not hearing.done()
        receipt = Receipt(message_id=MessageId("net-1"))
        await desk.run(lambda tx: note_sent(tx, item, receipt, at=desk.now))
        desk.services.wakeups.wake(Topic.OUTBOX)

    assert waited
    assert await desk.statuses() == {}


async def test_our_own_text_is_no_word_of_the_owner_however_long_its_receipt_takes(desk: Desk) -> None:
    await put_text(desk, "/new")
    await sending(desk)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(desk.hear("net-1", "/new", is_from_me=True))
        tasks.create_task(desk.hear("m-1", "/tasks", is_from_me=True))
        await eventually(lambda: desk.wakeups.listeners == 2)
        desk.clock.advance(31)
        desk.services.wakeups.wake(Topic.OUTBOX)

    assert list(await desk.statuses()) == ["m-1"]


async def test_the_echo_of_a_text_that_was_sent_again_with_its_note_makes_it_sent(desk: Desk) -> None:
    await put_text(desk)
    first = await sending(desk)
    await desk.run(lambda tx: note_unknown(tx, first, why="connection lost", at=desk.now))
    await desk.run(lambda tx: claim_next(tx, desk.services, CHAT, at=desk.now))
    again = await sending(desk)
    await desk.run(lambda tx: note_unknown(tx, again, why="connection lost", at=desk.now))

    await desk.hear("net-1", f"our text\n\n{ENGLISH[Say.RESENT_NOTE]}", is_from_me=True)

    assert await desk.statuses() == {}
    assert await desk.run(lambda tx: outbox.is_ours(tx, CHAT, MessageId("net-1")))


async def test_a_message_of_another_person_never_waits_for_a_text_in_flight(desk: Desk) -> None:
    await put_text(desk)

    await desk.hear("m-1", "@Andy hello", sender_jid=ANN)

    assert await desk.statuses() == {"m-1": "pending"}


async def test_a_quote_is_cleaned_as_well(desk: Desk) -> None:
    quoted = Quoted(message_id=MessageId("q"), sender_name="B\x07ob", text="a\x00b")

    await desk.hear("m-1", "@Andy what?", quoted=quoted)

    batch = await desk.batch()
    assert batch is not None
    assert batch.messages[0].quoted == replace(quoted, sender_name="Bob", text="ab")
