"""The event log: numbered without a hole in each tree, kept beyond its end, pruned by class."""

import asyncio
from datetime import timedelta

import pytest

from orchestrator.contracts.events import (
    AgentLogged,
    EventClass,
    LoggedEvent,
    ParentNotFound,
    TreeTerminated,
)
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.seams import Topic
from orchestrator.store import event_log
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import NOON

TREE, OTHER = TreeId("tree-a"), TreeId("tree-b")
ROOT = AgentId("agent-1")
LAST = 2**62


def line(tree: TreeId = TREE, text: str = "reading", agent: AgentId = ROOT) -> AgentLogged:
    return AgentLogged(agent_id=agent, tree_id=tree, depth=0, message=text)


def over(tree: TreeId = TREE) -> TreeTerminated:
    return TreeTerminated(tree_id=tree, root_agent_id=ROOT, total_agents=1)


async def everything(db: Database) -> list[LoggedEvent]:
    async with db.reader() as reader:
        return await event_log.behind(reader, 0, up_to=LAST, count=1_000)


async def test_many_writers_at_once_number_the_events_of_each_tree_without_a_hole(db: Database) -> None:
    async with asyncio.TaskGroup() as tasks:
        for number in range(60):
            tree = TREE if number % 3 else OTHER
            body = db.run(lambda tx, tree=tree: event_log.append(tx, tree, line(tree), NOON))  # type: ignore[misc]  # a lambda
            tasks.create_task(body)

    found = await everything(db)
    assert [each.seq for each in found if each.tree_id == TREE] == list(range(1, 41))
    assert [each.seq for each in found if each.tree_id == OTHER] == list(range(1, 21))
    assert [each.position for each in found] == sorted(each.position for each in found)


async def test_an_event_reads_as_it_was_written(db: Database) -> None:
    seq = await db.run(lambda tx: event_log.append(tx, TREE, line(text="naïve 🐦"), NOON))

    (found,) = await everything(db)
    assert (seq, found.seq, found.event_class, found.type) == (1, 1, EventClass.AGENT, "agent.log")
    assert (found.tree_id, found.agent_id, found.at) == (TREE, ROOT, NOON)
    assert found.body["message"] == "naïve 🐦"


async def test_what_is_undone_leaves_no_event_no_number_and_wakes_nobody(db: Database) -> None:
    def body(tx: Transaction) -> None:
        event_log.append(tx, TREE, line(), NOON)
        assert Topic.EVENTS in tx.topics
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await db.run(body)

    assert await everything(db) == []
    assert await db.run(lambda tx: event_log.append(tx, TREE, line(), NOON)) == 1


async def test_what_belongs_to_no_tree_is_kept_under_none(db: Database) -> None:
    await db.run(lambda tx: event_log.append(tx, None, ParentNotFound(parent_agent_id=ROOT), NOON))

    (found,) = await everything(db)
    assert (found.tree_id, found.agent_id, found.seq) == (None, None, 1)


async def test_events_are_read_from_a_number_on_up_to_a_position_after_the_end_of_their_tree(
    db: Database,
) -> None:
    for event in (line(), line(), line(), over()):
        await db.run(lambda tx, event=event: event_log.append(tx, TREE, event, NOON))  # type: ignore[misc]  # a lambda

    async with db.reader() as reader:
        later = await event_log.of_tree(reader, TREE, after_seq=1, up_to=LAST, count=10)
        bounded = await event_log.of_tree(reader, TREE, after_seq=1, up_to=2, count=10)
        newest = await event_log.newest(reader, up_to=LAST, count=2, tree_id=TREE)

    assert [each.seq for each in later] == [2, 3, 4]
    assert [each.seq for each in bounded] == [2]
    assert [each.type for each in newest] == ["agent.log", "tree.terminated"]


async def test_the_classes_are_kept_for_their_own_time_and_the_horizon_tells_of_it(db: Database) -> None:
    def fill(tx: Transaction) -> None:
        event_log.append(tx, TREE, line(), NOON)
        event_log.append(tx, TREE, over(), NOON)
        event_log.append(tx, TREE, line(), NOON + timedelta(days=2))

    await db.run(fill)
    day_later = NOON + timedelta(days=1)

    gone = await db.run(lambda tx: event_log.prune(tx, EventClass.AGENT, before=day_later, count=10))

    assert gone == 1
    assert [each.seq for each in await everything(db)] == [2, 3]
    async with db.reader() as reader:
        assert await event_log.horizon(reader) == 1


async def test_only_the_newest_are_kept_where_there_are_too_many(db: Database) -> None:
    for _ in range(6):
        await db.run(lambda tx: event_log.append(tx, TREE, line(), NOON))
    await db.run(lambda tx: event_log.append(tx, TREE, over(), NOON))

    first = await db.run(lambda tx: event_log.prune_over(tx, EventClass.AGENT, keep=2, count=3))
    second = await db.run(lambda tx: event_log.prune_over(tx, EventClass.AGENT, keep=2, count=3))

    assert (first, second) == (3, 1)
    assert [each.seq for each in await everything(db)] == [5, 6, 7]
    assert await db.run(lambda tx: event_log.prune_over(tx, EventClass.AGENT, keep=2, count=3)) == 0


async def test_a_number_does_not_come_twice_though_all_events_of_its_tree_are_gone(db: Database) -> None:
    await db.run(lambda tx: event_log.append(tx, TREE, line(), NOON))
    week_later = NOON + timedelta(days=7)
    await db.run(lambda tx: event_log.prune(tx, EventClass.AGENT, before=week_later, count=10))
    await db.run(lambda tx: event_log.prune_sequences(tx, before=NOON))

    seq = await db.run(lambda tx: event_log.append(tx, TREE, line(), week_later))

    assert seq == 2


async def test_the_newest_line_of_each_agent_is_found_at_once(db: Database) -> None:
    other = AgentId("agent-2")
    for agent, text in ((ROOT, "one"), (other, "two"), (ROOT, "three")):
        event = line(text=text, agent=agent)
        await db.run(lambda tx, event=event: event_log.append(tx, TREE, event, NOON))  # type: ignore[misc]  # a lambda

    async with db.reader() as reader:
        found = await event_log.last_of_agents(reader, [ROOT, other, AgentId("agent-3")], "agent.log")

    assert {agent: each.body["message"] for agent, each in found.items()} == {ROOT: "three", other: "two"}
