"""Texts on their way out, as rows."""

from datetime import timedelta

import pytest

from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import OutboxItem, OutboxStatus, TextSource
from orchestrator.store import agents, outbox
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, OTHER_CHAT, agent

AGENT, TURN = AgentId("agent-1"), TurnId("turn-1")


def put(
    tx: Transaction,
    *parts: str,
    key: str = "k",
    chat: Jid = CHAT,
    source: TextSource = TextSource.PAIR,
    status: OutboxStatus = OutboxStatus.QUEUED,
) -> list[int]:
    return outbox.add(
        tx,
        chat_jid=chat,
        parts=parts or ("text",),
        source=source,
        source_key=key,
        at=NOON,
        status=status,
        agent_id=AGENT,
        turn_id=TURN,
        reply_to=MessageId("m-1"),
    )


def oldest(tx: Transaction, chat: Jid = CHAT) -> OutboxItem:
    found = outbox.oldest(tx, chat)
    assert found is not None
    return found[0]


def claimed(tx: Transaction, *, is_resend: bool = False) -> OutboxItem:
    item = outbox.claim(tx, oldest(tx), is_resend=is_resend)
    assert item is not None
    return item


async def test_a_text_comes_back_as_it_was_put_in(db: Database) -> None:
    (first, _) = await db.run(lambda tx: put(tx, "one", "two"))

    item, unknown_since, send_after = await db.run(lambda tx: outbox.oldest(tx, CHAT)) or (None, None, NOON)

    assert item == OutboxItem(
        id=first,
        chat_jid=CHAT,
        text="one",
        source=TextSource.PAIR,
        source_key="k",
        part=1,
        parts=2,
        status=OutboxStatus.QUEUED,
        attempts=0,
        created_at=NOON,
        agent_id=AGENT,
        turn_id=TURN,
        reply_to=MessageId("m-1"),
    )
    assert unknown_since is None
    assert send_after <= NOON


async def test_only_the_first_part_quotes_what_is_answered(db: Database) -> None:
    await db.run(lambda tx: put(tx, "one", "two"))

    quotes = await db.run(lambda tx: [row["reply_to"] for row in tx.all("SELECT * FROM outbox ORDER BY id")])

    assert quotes == ["m-1", None]


async def test_a_text_is_put_in_once_for_its_source_and_key(db: Database) -> None:
    first = await db.run(lambda tx: put(tx, "one", "two"))
    again = await db.run(lambda tx: put(tx, "one", "two"))
    other_key = await db.run(lambda tx: put(tx, key="k2"))
    other_source = await db.run(lambda tx: put(tx, source=TextSource.NOTICE))

    assert [len(each) for each in (first, again, other_key, other_source)] == [2, 0, 1, 1]


async def test_a_claim_fails_when_the_row_has_moved_meanwhile(db: Database) -> None:
    def body(tx: Transaction) -> tuple[OutboxItem | None, OutboxItem | None]:
        put(tx)
        seen = oldest(tx)
        return outbox.claim(tx, seen, is_resend=False), outbox.claim(tx, seen, is_resend=False)

    first, second = await db.run(body)

    assert first is not None
    assert (first.status, first.attempts, first.was_resent) == (OutboxStatus.SENDING, 1, False)
    assert second is None


async def test_a_fate_is_written_only_on_the_row_that_is_still_there(db: Database) -> None:
    def body(tx: Transaction) -> tuple[bool, bool]:
        put(tx)
        item = claimed(tx)
        sent = outbox.move(tx, item, now=OutboxStatus.SENT, at=NOON, channel_message_id=MessageId("net-1"))
        return sent, outbox.move(tx, item, now=OutboxStatus.FAILED, at=NOON, error="late")

    sent, late = await db.run(body)

    async with db.reader() as reader:
        (text,) = await outbox.texts_after(reader, CHAT, after_id=0, count=9)
    assert (sent, late) == (True, False)
    assert (text.status, text.sent_at, text.channel_message_id) == (OutboxStatus.SENT, NOON, "net-1")


async def test_what_is_unknown_keeps_the_instant_since_when(db: Database) -> None:
    def body(tx: Transaction) -> object:
        put(tx)
        outbox.move(tx, claimed(tx), now=OutboxStatus.UNKNOWN, at=NOON)
        found = outbox.oldest(tx, CHAT)
        return None if found is None else found[1]

    since = await db.run(body)

    assert since == NOON


async def test_the_oldest_unsent_text_holds_the_place_of_its_chat(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        put(tx, "first", key="1")
        put(tx, "second", key="2")
        put(tx, "elsewhere", key="3", chat=OTHER_CHAT)
        texts = [oldest(tx).text]
        item = claimed(tx)
        texts.append(oldest(tx).text)
        outbox.move(tx, item, now=OutboxStatus.QUEUED, at=NOON, send_after=NOON + timedelta(hours=1))
        texts.append(oldest(tx).text)
        outbox.move(tx, claimed(tx), now=OutboxStatus.FAILED, at=NOON)
        return [*texts, oldest(tx).text]

    texts = await db.run(body)

    assert texts == ["first", "first", "first", "second"]


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        (OutboxStatus.QUEUED, True),
        (OutboxStatus.SENDING, True),
        (OutboxStatus.UNKNOWN, True),
        (OutboxStatus.SENT, False),
        (OutboxStatus.FAILED, False),
    ],
)
async def test_a_chat_waits_while_a_text_has_no_end(db: Database, status: OutboxStatus, waits: bool) -> None:
    await db.run(lambda tx: put(tx, status=status))

    chats = await db.run(outbox.waiting_chats)
    async with db.reader() as reader:
        counts = await outbox.count_waiting(reader, CHAT), await outbox.count_all_waiting(reader)
    assert (chats, counts) == (([CHAT], (1, 1)) if waits else ([], (0, 0)))


async def test_what_may_be_in_the_network_is_found_by_chat_and_at_a_start(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[str], list[str]]:
        put(tx, "sent", key="1", status=OutboxStatus.SENT)
        put(tx, "sending", key="2", status=OutboxStatus.SENDING)
        put(tx, "unknown", key="3", status=OutboxStatus.UNKNOWN)
        put(tx, "queued", key="4")
        put(tx, "elsewhere", key="5", chat=OTHER_CHAT, status=OutboxStatus.SENDING)
        of_chat = [each.text for each in outbox.in_flight_of_chat(tx, CHAT)]
        return of_chat, [each.text for each in outbox.in_flight(tx)]

    of_chat, at_start = await db.run(body)

    assert of_chat == ["sending", "unknown"]
    assert sorted(at_start) == ["elsewhere", "sending"]


async def test_requested_texts_of_a_turn_are_whole_again(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        agents.add(tx, agent(AGENT))
        agents.start_turn(tx, AGENT, TURN, CHAT, at=NOON)
        put(tx, "long,", "in parts", key="r-1", source=TextSource.REQUEST)
        put(tx, "short", key="r-2", source=TextSource.REQUEST)
        put(tx, "a pair", key="p-1")
        return outbox.requested_texts(tx, AGENT, since=NOON)

    texts = await db.run(body)
    later = NOON + timedelta(seconds=1)
    of_a_later_turn = await db.run(lambda tx: outbox.requested_texts(tx, AGENT, since=later))

    assert sorted(texts) == ["long,\nin parts", "short"]
    assert of_a_later_turn == []


async def test_an_id_is_ours_only_in_its_chat(db: Database) -> None:
    def body(tx: Transaction) -> tuple[bool, bool, bool]:
        put(tx)
        outbox.move(tx, claimed(tx), now=OutboxStatus.SENT, at=NOON, channel_message_id=MessageId("net-1"))
        return (
            outbox.is_ours(tx, CHAT, MessageId("net-1")),
            outbox.is_ours(tx, OTHER_CHAT, MessageId("net-1")),
            outbox.is_ours(tx, CHAT, MessageId("net-2")),
        )

    found = await db.run(body)

    assert found == (True, False, False)


async def test_a_failure_is_told_once_and_again_only_when_its_message_never_arrived(db: Database) -> None:
    def body(tx: Transaction) -> list[int]:
        for key in ("1", "2"):
            put(tx, key=key, status=OutboxStatus.FAILED)
        counts = [outbox.count_untold_failures(tx, CHAT)]
        outbox.mark_told(tx, CHAT, with_seq=7, count=2)
        put(tx, key="3", status=OutboxStatus.FAILED)
        counts.append(outbox.count_untold_failures(tx, CHAT))
        outbox.mark_untold(tx, CHAT, with_seq=8)
        counts.append(outbox.count_untold_failures(tx, CHAT))
        outbox.mark_untold(tx, CHAT, with_seq=7)
        return [*counts, outbox.count_untold_failures(tx, CHAT)]

    counts = await db.run(body)

    assert counts == [2, 1, 1, 3]


async def test_a_reader_goes_on_behind_what_it_has_and_sees_only_what_was_sent(db: Database) -> None:
    def body(tx: Transaction) -> None:
        for number in range(4):
            put(tx, f"text {number}", key=f"{number}", status=OutboxStatus.SENT)
        put(tx, "waiting", key="w")
        put(tx, "lost", key="f", status=OutboxStatus.FAILED)
        put(tx, "elsewhere", key="e", chat=OTHER_CHAT, status=OutboxStatus.SENT)

    await db.run(body)

    async with db.reader() as reader:
        first = await outbox.texts_after(reader, CHAT, after_id=0, count=3)
        rest = await outbox.texts_after(reader, CHAT, after_id=first[-1].id, count=3)
        last = await outbox.last_id(reader, CHAT)
        failed = [await outbox.count_failed(reader, CHAT, after_id=after) for after in (0, 6)]
    assert [each.text for each in first] == ["text 0", "text 1", "text 2"]
    assert [each.text for each in rest] == ["text 3"]
    assert last == rest[-1].id
    assert failed == [1, 0]


async def test_pruning_takes_only_old_texts_whose_fate_is_known(db: Database) -> None:
    def body(tx: Transaction) -> int:
        for status in OutboxStatus:
            put(tx, status.value, key=status.value, status=status)
        return outbox.prune(tx, before=NOON + timedelta(seconds=1), after=0, count=9).removed

    early = await db.run(lambda tx: outbox.prune(tx, before=NOON, after=0, count=9).removed)
    gone = await db.run(body)

    left = await db.run(lambda tx: [row["text"] for row in tx.all("SELECT text FROM outbox ORDER BY id")])
    assert (early, gone) == (0, 2)
    assert left == ["queued", "sending", "unknown"]
