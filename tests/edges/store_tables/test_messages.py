"""Inbound messages as rows."""

from datetime import timedelta

import pytest

from orchestrator.contracts.ids import AgentId, MessageId, TurnId
from orchestrator.contracts.records.messages import (
    Attachment,
    MessageStatus,
    Quoted,
    SenderRole,
    StoredMessage,
)
from orchestrator.store import messages
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, OTHER_CHAT, add_group, add_message, inbound

AGENT, OTHER_AGENT = AgentId("agent-1"), AgentId("agent-2")
TURN = TurnId("turn-1")
LONGEST_WAIT = timedelta(minutes=5)
PENDING, DISPATCHED = MessageStatus.PENDING, MessageStatus.DISPATCHED


def status_of(tx: Transaction, seq: int) -> str:
    row = tx.one("SELECT status FROM messages WHERE seq = ?", (seq,))
    assert row is not None
    return str(row["status"])


def dispatch(tx: Transaction, *seqs: int, agent_id: AgentId = AGENT, input_file: str | None = None) -> int:
    return messages.dispatch(tx, seqs, agent_id=agent_id, turn_id=TURN, input_file=input_file)


def only(found: list[StoredMessage]) -> StoredMessage:
    (message,) = found
    return message


async def test_a_message_comes_back_as_it_was_stored(db: Database) -> None:
    given = inbound(
        "m-1",
        "grüße\n\ttab",
        quoted=Quoted(message_id=MessageId("m-0"), sender_name="Bob", text="was?", is_ours=True),
        attachments=(Attachment(name="a.pdf", media_type="application/pdf", size_bytes=7, path="/x/a.pdf"),),
    )

    seq = await db.run(
        lambda tx: messages.add(tx, given, role=SenderRole.OPERATOR, is_trigger=True, status=PENDING, at=NOON)
    )
    stored = only(await db.run(lambda tx: messages.pending_triggers(tx, CHAT)))

    assert stored == StoredMessage(
        seq=seq or 0,
        chat_jid=CHAT,
        message_id=given.message_id,
        sender_jid=given.sender_jid,
        sender_name="Ann",
        sender_role=SenderRole.OPERATOR,
        text="grüße\n\ttab",
        sent_at=NOON,
        status=PENDING,
        is_trigger=True,
        quoted=given.quoted,
        attachments=given.attachments,
    )


async def test_the_same_id_in_a_chat_is_stored_once_and_its_first_text_stands(db: Database) -> None:
    await db.run(lambda tx: add_message(tx, "m-1", "first"))

    again = await db.run(
        lambda tx: messages.add(
            tx,
            inbound("m-1", "second"),
            role=SenderRole.MEMBER,
            is_trigger=True,
            status=PENDING,
            at=NOON,
        )
    )
    elsewhere = await db.run(lambda tx: add_message(tx, "m-1", chat_jid=OTHER_CHAT))

    stored = only(await db.run(lambda tx: messages.pending_triggers(tx, CHAT)))
    assert (again, stored.text) == (None, "first")
    assert elsewhere > stored.seq


async def test_d_1_d_2_order_is_that_of_arrival_whatever_the_clocks_say(db: Database) -> None:
    """Cases D-1 and D-2: equal and older network times lose nothing."""

    def body(tx: Transaction) -> list[str]:
        add_message(tx, "m-1", sent_at=NOON)
        add_message(tx, "m-2", sent_at=NOON)
        add_message(tx, "m-3", sent_at=NOON - timedelta(days=1), at=NOON - timedelta(days=1))
        return [message.message_id for message in messages.pending_triggers(tx, CHAT)]

    found = await db.run(body)

    assert found == ["m-1", "m-2", "m-3"]


async def test_a_chat_waits_for_its_oldest_trigger_as_a_whole(db: Database) -> None:
    def body(tx: Transaction) -> tuple[int, int]:
        add_group(tx)
        first, second = add_message(tx, "m-1"), add_message(tx, "m-2")
        tx.execute("UPDATE messages SET due_ms = ? WHERE seq = ?", (_ms(60), first))
        return first, second

    first, _ = await db.run(body)

    early = await waiting(db, 59)
    due = await waiting(db, 60)

    assert early == []
    assert [(each.chat_jid, each.folder, each.oldest_seq) for each in due] == [(CHAT, "family", first)]


@pytest.mark.parametrize(("wait_s", "is_due"), [(300, False), (301, True), (30 * 86_400, True)])
async def test_a_wait_longer_than_any_that_is_made_is_over_since_the_clock_was_set_back(
    wait_s: int, is_due: bool, db: Database
) -> None:
    def body(tx: Transaction) -> None:
        add_group(tx)
        tx.execute("UPDATE messages SET due_ms = ? WHERE seq = ?", (_ms(wait_s), add_message(tx)))

    await db.run(body)

    assert [each.chat_jid for each in await waiting(db, 0)] == ([CHAT] if is_due else [])


async def test_chatter_and_unregistered_chats_wait_for_nothing(db: Database) -> None:
    def body(tx: Transaction) -> list[messages.WaitingChat]:
        add_group(tx)
        add_message(tx, "m-1", is_trigger=False)
        add_message(tx, "m-2", chat_jid=OTHER_CHAT)
        return messages.waiting_chats(tx, now=NOON, longest_wait=LONGEST_WAIT)

    waiting = await db.run(body)

    assert waiting == []


async def test_a_message_is_given_to_one_agent_only(db: Database) -> None:
    seq = await db.run(add_message)

    first = await db.run(lambda tx: dispatch(tx, seq))
    second = await db.run(lambda tx: dispatch(tx, seq, agent_id=OTHER_AGENT))

    held = only(await db.run(lambda tx: messages.of_agent(tx, AGENT)))
    assert (first, second) == (1, 0)
    assert (held.seq, held.status, held.turn_id, held.is_in_turn) == (seq, DISPATCHED, TURN, False)


async def test_what_was_given_for_a_turn_is_taken_back_for_that_turn_only(
    db: Database,
) -> None:
    seq = await db.run(add_message)
    await db.run(lambda tx: dispatch(tx, seq))

    await db.run(lambda tx: messages.take_back(tx, [seq], agent_id=OTHER_AGENT, turn_id=TURN))
    await db.run(lambda tx: messages.take_back(tx, [seq], agent_id=AGENT, turn_id=TurnId("another")))
    kept = await db.run(lambda tx: status_of(tx, seq))
    await db.run(lambda tx: messages.take_back(tx, [seq], agent_id=AGENT, turn_id=TURN))
    freed = await db.run(lambda tx: status_of(tx, seq))

    assert (kept, freed) == ("dispatched", "pending")


async def test_a_turn_takes_in_only_what_its_agent_was_given(db: Database) -> None:
    def body(tx: Transaction) -> tuple[int, int]:
        own, foreign = add_message(tx, "m-1"), add_message(tx, "m-2")
        dispatch(tx, own)
        dispatch(tx, foreign, agent_id=OTHER_AGENT)
        messages.enter_turn(tx, AGENT, TurnId("turn-9"), ["m-1", "m-2", "never heard of"])
        return own, foreign

    own, foreign = await db.run(body)

    mine = only(await db.run(lambda tx: messages.of_agent(tx, AGENT)))
    other = only(await db.run(lambda tx: messages.of_agent(tx, OTHER_AGENT)))
    assert (mine.seq, mine.is_in_turn, mine.turn_id) == (own, True, "turn-9")
    assert (other.seq, other.is_in_turn, other.turn_id) == (foreign, False, TURN)


@pytest.mark.parametrize("status", [each for each in MessageStatus if each is not PENDING])
async def test_only_a_pending_message_can_be_given(db: Database, status: MessageStatus) -> None:
    seq = await db.run(lambda tx: add_message(tx, status=status))

    given = await db.run(lambda tx: dispatch(tx, seq))

    assert given == 0
    assert await db.run(lambda tx: status_of(tx, seq)) == status


async def test_a_status_moves_only_from_where_it_is(db: Database) -> None:
    seq = await db.run(add_message)
    await db.run(lambda tx: dispatch(tx, seq))

    wrong = await db.run(lambda tx: messages.move(tx, [seq], was=PENDING, now=MessageStatus.SKIPPED))
    right = await db.run(lambda tx: messages.move(tx, [seq], was=DISPATCHED, now=MessageStatus.SETTLED))
    twice = await db.run(lambda tx: messages.move(tx, [seq], was=DISPATCHED, now=MessageStatus.FAILED))

    assert (wrong, right, twice) == (0, 1, 0)
    assert await db.run(lambda tx: status_of(tx, seq)) == "settled"


@pytest.mark.parametrize(
    ("status", "after"),
    [
        (MessageStatus.DISPATCHED, "pending"),
        (MessageStatus.PARTIAL, "pending"),
        (MessageStatus.FAILED, "pending"),
        (MessageStatus.SETTLED, "settled"),
        (MessageStatus.SKIPPED, "skipped"),
    ],
)
async def test_what_is_settled_is_never_given_back(db: Database, status: MessageStatus, after: str) -> None:
    def body(tx: Transaction) -> str:
        seq = add_message(tx)
        message = only(messages.pending_triggers(tx, CHAT))
        tx.execute("UPDATE messages SET status = ?, agent_id = 'agent-1' WHERE seq = ?", (status, seq))
        messages.give_back(tx, message, tries=2, deaths=1)
        return status_of(tx, seq)

    found = await db.run(body)

    assert found == after


async def test_what_is_given_back_carries_its_counters_and_waits_until_it_is_due(db: Database) -> None:
    def body(tx: Transaction) -> StoredMessage:
        add_group(tx)
        seq = add_message(tx)
        dispatch(tx, seq, input_file="1-a")
        messages.enter_turn(tx, AGENT, TURN, ["m-1"])
        held = only(messages.of_agent(tx, AGENT))
        messages.give_back(tx, held, tries=3, deaths=2, due_at=NOON + timedelta(seconds=20), is_nudged=True)
        return only(messages.pending_triggers(tx, CHAT))

    back = await db.run(body)
    early = await waiting(db, 19)
    due = await waiting(db, 20)

    assert (back.tries, back.deaths, back.is_nudged) == (3, 2, True)
    assert (back.agent_id, back.turn_id, back.is_in_turn) == (None, None, False)
    assert (len(early), len(due)) == (0, 1)


async def test_a_hold_keeps_the_instant_of_the_first_one(db: Database) -> None:
    seq = await db.run(add_message)
    later = NOON + timedelta(hours=3)

    await db.run(lambda tx: messages.hold_chat(tx, CHAT, until=NOON + timedelta(seconds=5), now=NOON))
    await db.run(lambda tx: messages.hold_chat(tx, CHAT, until=later + timedelta(seconds=5), now=later))

    assert await db.run(lambda tx: messages.held_since(tx, seq)) == NOON


async def waiting(db: Database, seconds: int) -> list[messages.WaitingChat]:
    """The chats that want a turn so many seconds after noon."""
    now = NOON + timedelta(seconds=seconds)
    return await db.run(lambda tx: messages.waiting_chats(tx, now=now, longest_wait=LONGEST_WAIT))


def _ms(seconds: int) -> int:
    return int((NOON + timedelta(seconds=seconds)).timestamp() * 1000)
