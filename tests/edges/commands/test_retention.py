"""What is old and done with goes, what anything still needs stays, and a crash in between is harmless."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar, cast

import pytest
from structlog.testing import capture_logs

from orchestrator.commands.hearing.receiving import REFUSED_INCIDENTS
from orchestrator.commands.keeping.retention import prune_rows
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, MessageId, TurnId
from orchestrator.contracts.records.agents import AgentStatus, TurnOutcome
from orchestrator.contracts.records.messages import MessageStatus, TextSource
from orchestrator.contracts.records.tasks import TaskStatus
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.engine.housekeeping import Housekeeping
from orchestrator.settings.tree import Settings
from orchestrator.store import (
    agents,
    chats,
    members,
    messages,
    notices,
    outbox,
    tasks,
    usage,
    waiting_words,
)
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_bench import HOUR_S, Bench
from tests.edges.commands.task_bench import bench as bench
from tests.support.eventually import eventually
from tests.support.store_rows import ANN, CHAT, add_message, agent

T = TypeVar("T")
DAY_S: Final = 86_400.0
MONTH_S: Final = 31 * DAY_S
FAMILY: Final = GroupFolder("family")


class PowerCut(Exception):
    """The process is gone."""


class DyingDatabase:
    """A store whose process dies when it is asked to write once too often. after: how often it is not."""

    def __init__(self, database: Database, after: int) -> None:
        self._database = database
        self._left = after

    async def run(self, body: Callable[[Transaction], T]) -> T:
        """As the real one, as long as the process lives."""
        if not self._left:
            raise PowerCut
        self._left -= 1
        return await self._database.run(body)


def keep_days(desk: Desk, days: int) -> None:
    desk.set_settings(Settings(keep_messages_days=days))


async def rows(desk: Desk, column: str, table: str) -> list[Any]:
    """A column of a table, in order."""
    return await desk.run(lambda tx: [row[0] for row in tx.all(f"SELECT {column} FROM {table} ORDER BY 1")])


async def end_task(bench: Bench, name: str, status: TaskStatus = TaskStatus.CANCELLED) -> None:
    """It is over now."""
    task = await bench.task(name)
    ended = replace(task, status=status, next_run_at=None)
    await bench.desk.run(lambda tx: tasks.write(tx, ended, was=task.status, at=bench.desk.now))


async def test_a_task_goes_with_its_runs_when_it_is_over_for_as_long_as_messages_are_kept(
    bench: Bench,
) -> None:
    keep_days(bench.desk, 10)
    await bench.add("old")
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.SUCCESS)
    await bench.exit(held)
    await end_task(bench, "old", TaskStatus.COMPLETED)
    await bench.add("resting", status=TaskStatus.PAUSED)
    await bench.add("at-work", next_run_at=bench.desk.later(100 * DAY_S))
    bench.desk.clock.advance(5 * DAY_S)
    await bench.add("cancelled-later")
    await end_task(bench, "cancelled-later")

    bench.desk.clock.advance(5 * DAY_S - 1)
    await prune_rows(bench.desk.services)
    before = await rows(bench.desk, "task_id", "tasks"), await rows(bench.desk, "task_id", "task_runs")
    bench.desk.clock.advance(2)
    await prune_rows(bench.desk.services)

    assert before == (["at-work", "cancelled-later", "old", "resting"], ["old"])
    assert await rows(bench.desk, "task_id", "tasks") == ["at-work", "cancelled-later", "resting"]
    assert await rows(bench.desk, "task_id", "task_runs") == []


async def test_a_task_is_known_as_long_as_any_run_of_it_is(bench: Bench) -> None:
    keep_days(bench.desk, 10)
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await end_task(bench, "task-1")
    bench.desk.clock.advance(20 * DAY_S)

    await prune_rows(bench.desk.services)
    during = await rows(bench.desk, "task_id", "tasks")
    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.SUCCESS)
    bench.desk.clock.advance(20 * DAY_S)
    await prune_rows(bench.desk.services)
    lingering = await bench.statuses()
    await bench.exit(held)
    await prune_rows(bench.desk.services)

    assert during == ["task-1"]
    assert lingering == ["succeeded"], "its agent has not ended"
    assert await rows(bench.desk, "task_id", "tasks") == []


async def test_the_name_of_a_forgotten_task_is_free_again_and_the_end_counts_from_the_first_one(
    bench: Bench,
) -> None:
    keep_days(bench.desk, 10)
    await bench.add("first", alias="plants")
    await end_task(bench, "first")
    bench.desk.clock.advance(9 * DAY_S)
    over = await bench.task("first")
    await bench.desk.run(lambda tx: tasks.write(tx, over, was=over.status, at=bench.desk.now))

    bench.desk.clock.advance(2 * DAY_S)
    await prune_rows(bench.desk.services)
    await bench.add("second", alias="plants")

    found = await bench.desk.run(lambda tx: tasks.named(tx, FAMILY, "plants"))
    assert found is not None
    assert found.task_id == "second"


async def test_turns_of_a_chat_that_is_never_silent_go_after_a_month_and_the_agent_stays(desk: Desk) -> None:
    def body(tx: Transaction) -> None:
        agents.add(tx, agent(status=AgentStatus.RUNNING, started_at=desk.now))
        for number in range(4):
            turn = TurnId(f"turn-{number}")
            at = desk.now + timedelta(days=20 * number)
            agents.start_turn(tx, AgentId("agent-1"), turn, CHAT, at=at)
            agents.end_turn(tx, AgentId("agent-1"), turn, outcome=TurnOutcome.SUCCESS, at=at)

    await desk.run(body)
    desk.clock.advance(60 * DAY_S)

    gone = await prune_rows(desk.services, at_once=1)

    assert gone == 2
    assert await rows(desk, "turn_id", "turns") == ["turn-2", "turn-3"]
    assert await rows(desk, "agent_id", "agents") == ["agent-1"]


async def test_a_message_with_a_word_that_is_not_done_yet_stays_whatever_its_age(desk: Desk) -> None:
    def body(tx: Transaction) -> None:
        add_message(tx, "done", status=MessageStatus.SKIPPED, at=desk.now)
        seq = add_message(tx, "waits", status=MessageStatus.SKIPPED, at=desk.now)
        waiting_words.add(
            tx,
            SpokenWord(
                seq=seq,
                chat_jid=CHAT,
                message_id=MessageId("waits"),
                sender_jid=ANN,
                name="stop",
                argument="",
            ),
        )

    keep_days(desk, 1)
    await desk.run(body)
    desk.clock.advance(2 * DAY_S)

    await prune_rows(desk.services)

    assert await rows(desk, "message_id", "messages") == ["waits"]
    assert await rows(desk, "name", "waiting_words") == ["stop"]


async def test_what_was_used_this_month_is_counted_however_soon_messages_go(desk: Desk) -> None:
    began = desk.now

    def spend(tx: Transaction) -> None:
        tx.execute(
            "INSERT INTO usage (at_ms, folder, agent_id, provider, status, tokens, cost_usd)"
            " VALUES (:at_ms, 'family', 'agent-1', 'paid', 200, 10, 2.5)",
            {"at_ms": int(desk.now.timestamp() * 1000)},
        )

    def spent(tx: Transaction) -> float:
        return usage.spent(tx, FAMILY, day=desk.now, month=began).usd_this_month

    keep_days(desk, 1)
    await desk.run(spend)
    desk.clock.advance(MONTH_S - 1)
    await prune_rows(desk.services)
    at_its_end = await desk.run(spent)
    desk.clock.advance(2 * DAY_S)
    await prune_rows(desk.services)

    assert at_its_end == 2.5
    assert await desk.run(spent) == 0


async def test_of_a_stranger_nothing_is_known_after_a_month_and_he_is_warned_of_again(desk: Desk) -> None:
    async def warned(number: int) -> list[str]:
        with capture_logs() as logs:
            await desk.hear(f"m-{number}", chat_jid="stranger@s.whatsapp.net")
        return [each["chat"] for each in logs if each["event"] == "chat.not_registered"]

    first = await warned(1)
    desk.clock.advance(29 * DAY_S)
    await prune_rows(desk.services)
    second = await warned(2)
    desk.clock.advance(2 * DAY_S)
    await prune_rows(desk.services)

    assert (first, second) == (["stranger@s.whatsapp.net"], [])
    assert await rows(desk, "incident", "notices") == []
    assert await warned(3) == ["stranger@s.whatsapp.net"]


async def test_messages_that_can_not_be_taken_are_no_trouble_of_the_chats_provider(desk: Desk) -> None:
    with pytest.raises(InvalidRequest):
        await desk.hear("", "a message without an id")

    assert await rows(desk, "incident", "notices") == [f"{REFUSED_INCIDENTS}{CHAT}"]
    assert await desk.run(lambda tx: notices.opened_at(tx, f"refused:{CHAT}")) is None


async def test_the_house_is_kept_from_its_start_on(desk: Desk) -> None:
    keep_days(desk, 1)
    await desk.run(lambda tx: add_message(tx, "old", status=MessageStatus.SETTLED, at=desk.now))
    desk.clock.advance(2 * DAY_S)

    async def is_gone() -> bool:
        return not await rows(desk, "message_id", "messages")

    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(Housekeeping(desk.services).run())
        await eventually(is_gone)
        keeping.cancel()


async def fill(bench: Bench) -> None:
    """Old rows in all tables that are pruned, some of which have to stay."""
    keep_days(bench.desk, 10)
    for number in range(4):
        await bench.add(f"task-{number}")
    await bench.claim(after_s=HOUR_S)
    for number in range(4):
        work = (await bench.waiting())[0]
        held, first = await bench.try_start(work)
        assert first is not None
        await bench.desk.begin(held, *first.ids, turn=bench.turn)
        await bench.desk.say(held, f"done {number}", turn=bench.turn)
        await bench.desk.end(held, turn=bench.turn, status=TurnStatus.SUCCESS)
        await bench.exit(held)
    for number in range(3):
        await end_task(bench, f"task-{number}")
    await bench.desk.run(lambda tx: tx.execute("UPDATE outbox SET status = 'sent' WHERE text <> 'done 3'"))
    for name in ("m-1", "m-2"):
        await bench.desk.hear(name)
    await bench.desk.start_agent("held")
    await bench.desk.hear("m-3")
    await bench.desk.hear("m-4", "only chatter")
    bench.desk.clock.advance(40 * DAY_S)


async def everything(desk: Desk) -> dict[str, list[Any]]:
    """What is left in the tables that are pruned."""
    keys = {
        "messages": "message_id",
        "outbox": "text",
        "turns": "turn_id",
        "agents": "agent_id",
        "trees": "tree_id",
        "tasks": "task_id",
        "task_runs": "task_id",
    }
    return {table: await rows(desk, key, table) for table, key in keys.items()}


async def test_a_crash_between_any_two_slices_leaves_a_whole_store_and_the_next_round_the_rest(
    bench: Bench,
) -> None:
    await fill(bench)
    left = []
    for after in range(100):
        dying = cast(Database, DyingDatabase(bench.desk.services.db, after))
        try:
            await prune_rows(replace(bench.desk.services, db=dying), at_once=1)
        except PowerCut:
            assert await bench.desk.run(lambda tx: tx.all("PRAGMA foreign_key_check")) == []
            left.append(await everything(bench.desk))
        else:
            break

    assert len(left) > 10
    assert left[0] != left[-1]
    assert await everything(bench.desk) == {
        "messages": ["m-1", "m-2", "m-3"],
        "outbox": ["done 3"],
        "turns": ["turn-1"],
        "agents": ["held"],
        "trees": ["tree-1"],
        "tasks": ["task-3"],
        "task_runs": [],
    }


async def test_of_chats_go_those_that_are_nobodys_silent_and_left_with_who_was_in_them(desk: Desk) -> None:
    def body(tx: Transaction) -> None:
        for jid in ("stranger", "club", "left", "with-text", "with-message", CHAT):
            chats.see(tx, Jid(jid), channel="test", name=None, is_group=jid != "stranger", at=desk.now)
            members.add(tx, Jid(jid), [ANN])
            messages.move_cursor(tx, Jid(jid))
        for jid in ("club", "left", "left-unheard", "in-unheard"):
            chats.note_found(tx, Jid(jid), channel="test", name=None)
        for jid in ("left", "left-unheard"):
            chats.leave(tx, Jid(jid))
        add_message(tx, "waits", chat_jid=Jid("with-message"), at=desk.now)
        outbox.add(
            tx, chat_jid=Jid("with-text"), parts=["hi"], source=TextSource.NOTICE, source_key="1", at=desk.now
        )

    keep_days(desk, 10)
    await desk.run(body)
    desk.clock.advance(10 * DAY_S)
    await prune_rows(desk.services)
    early = await rows(desk, "jid", "chats")
    desk.clock.advance(1)
    await desk.run(
        lambda tx: chats.see(tx, Jid("new"), channel="test", name=None, is_group=False, at=desk.now)
    )
    await prune_rows(desk.services, at_once=1)

    assert early == [CHAT, "club", "in-unheard", "left", "stranger", "with-message", "with-text"]
    assert await rows(desk, "jid", "chats") == [
        CHAT,
        "club",
        "in-unheard",
        "new",
        "with-message",
        "with-text",
    ]
    for table in ("members", "cursors"):
        assert await rows(desk, "chat_jid", table) == [CHAT, "club", "with-message", "with-text"]
