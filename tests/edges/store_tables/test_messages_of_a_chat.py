"""The messages of one chat: its chatter, its cursor, what is counted, what is pruned."""

from datetime import timedelta

from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage
from orchestrator.store import agents, message_views, messages
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, OTHER_CHAT, add_message, agent

AGENT, TURN = AgentId("agent-1"), TurnId("turn-1")
DISPATCHED = MessageStatus.DISPATCHED


def cursor_of(tx: Transaction, chat: Jid = CHAT) -> int | None:
    row = tx.one("SELECT seq FROM cursors WHERE chat_jid = ?", (chat,))
    return None if row is None else int(row["seq"])


def dispatch(tx: Transaction, *seqs: int, agent_id: AgentId = AGENT, input_file: str | None = None) -> int:
    return messages.dispatch(tx, seqs, agent_id=agent_id, turn_id=TURN, input_file=input_file)


def only(found: list[StoredMessage]) -> StoredMessage:
    (message,) = found
    return message


async def test_chatter_is_the_newest_below_the_trigger_oldest_first(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[str], int, int, list[str]]:
        for number in range(5):
            add_message(tx, f"c-{number}", is_trigger=False)
        trigger = add_message(tx, "t")
        add_message(tx, "after", is_trigger=False)
        newest = messages.pending_chatter(tx, CHAT, before_seq=trigger, count=2)
        count = messages.count_chatter(tx, CHAT, before_seq=newest[0].seq)
        skipped = messages.skip_chatter(tx, CHAT, before_seq=newest[0].seq)
        left = messages.pending_chatter(tx, CHAT, before_seq=trigger + 2, count=9)
        return [each.message_id for each in newest], count, skipped, [each.message_id for each in left]

    newest, count, skipped, left = await db.run(body)

    assert newest == ["c-3", "c-4"]
    assert (count, skipped) == (3, 3)
    assert left == ["c-3", "c-4", "after"]


async def test_the_cursor_is_below_the_oldest_unsettled_message(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[int], list[int | None]]:
        seqs = [add_message(tx, f"m-{number}") for number in range(3)]
        dispatch(tx, *seqs)
        cursors = []
        for settled in (2, 0, 1):
            messages.move(tx, [seqs[settled]], was=DISPATCHED, now=MessageStatus.SETTLED)
            messages.move_cursor(tx, CHAT)
            cursors.append(cursor_of(tx))
        return seqs, cursors

    seqs, cursors = await db.run(body)

    assert cursors == [seqs[0] - 1, seqs[0], seqs[2]]


async def test_the_cursor_goes_back_when_a_message_waits_again(db: Database) -> None:
    def body(tx: Transaction) -> tuple[int | None, int | None]:
        seq = add_message(tx)
        dispatch(tx, seq)
        held = only(messages.of_agent(tx, AGENT))
        messages.move(tx, [seq], was=DISPATCHED, now=MessageStatus.FAILED)
        messages.move_cursor(tx, CHAT)
        before = cursor_of(tx)
        messages.give_back(tx, held, tries=0, deaths=0)
        messages.move_cursor(tx, CHAT)
        return before, cursor_of(tx)

    before, after = await db.run(body)

    assert (before, after) == (1, 0)


async def test_what_an_agent_holds_is_told_by_its_file(db: Database) -> None:
    def body(tx: Transaction) -> dict[int, str | None]:
        first, second = add_message(tx, "m-1"), add_message(tx, "m-2")
        dispatch(tx, first)
        dispatch(tx, second, input_file="17-abc")
        return messages.input_files(tx, AGENT)

    files = await db.run(body)

    assert sorted(files.items()) == [(1, None), (2, "17-abc")]


async def test_counts_and_lists_of_a_chat_leave_out_idle_chatter_and_other_chats(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add_message(tx, "waiting")
        add_message(tx, "idle", is_trigger=False)
        held = [add_message(tx, "held"), add_message(tx, "held too", is_trigger=False)]
        dispatch(tx, *held)
        add_message(tx, "half", status=MessageStatus.PARTIAL)
        add_message(tx, "failed", status=MessageStatus.FAILED)
        add_message(tx, "done", status=MessageStatus.SETTLED)
        add_message(tx, "elsewhere", chat_jid=OTHER_CHAT)

    await db.run(body)

    async with db.reader() as reader:
        unsettled = await message_views.count_unsettled(reader, CHAT)
        waiting = await message_views.count_waiting(reader)
        unfinished = await message_views.list_unfinished(reader, CHAT, after_seq=0)
        later = await message_views.list_unfinished(reader, CHAT, after_seq=5)
        last = await message_views.last_seq(reader, CHAT)
    at_work = await db.run(lambda tx: messages.triggers_at_work(tx, CHAT))
    assert (unsettled, waiting, last) == (3, 2, 7)
    assert unfinished == [("half", "partial"), ("failed", "failed")]
    assert later == [("failed", "failed")]
    assert [each.message_id for each in at_work] == ["held"]


async def test_pruning_leaves_what_still_waits_or_is_held(db: Database) -> None:
    def body(tx: Transaction) -> int:
        agents.add(tx, agent())
        old = NOON - timedelta(days=400)
        add_message(tx, "old and settled", status=MessageStatus.SETTLED, at=old)
        add_message(tx, "old chatter", is_trigger=False, at=old)
        add_message(tx, "old and waiting", at=old)
        dispatch(tx, add_message(tx, "old and held", at=old))
        add_message(tx, "new and settled", status=MessageStatus.SETTLED)
        return messages.prune(tx, before=NOON - timedelta(days=365), after=0, count=9).removed

    gone = await db.run(body)

    left = await db.run(
        lambda tx: [row["message_id"] for row in tx.all("SELECT message_id FROM messages ORDER BY seq")]
    )
    assert gone == 2
    assert left == ["old and waiting", "old and held", "new and settled"]
