"""Trees, spawns and waits in the store; what an older store becomes."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import AgentKind, AgentStatus, EndReason, SpawnPermissions
from orchestrator.contracts.records.spawns import (
    OnParentExit,
    SpawnProfile,
    SpawnRecord,
    SpawnResult,
    StopReason,
    TreeStatus,
    WaitFor,
)
from orchestrator.store import agents, lineage, spawns, trees, waits
from orchestrator.store.agent_pruning import prune_agents
from orchestrator.store.database import Database
from orchestrator.store.migrate import shipped_migrations
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait
from tests.support.store_rows import NOON, agent

ROOT, CHILD, OTHER = AgentId("agent-root"), AgentId("agent-child"), AgentId("agent-other")
TREE = TreeId("tree-1")


def record(agent_id: AgentId = CHILD, **fields: object) -> SpawnRecord:
    plain: dict[str, object] = {
        "agent_id": agent_id,
        "parent_agent_id": ROOT,
        "caller_key": "agent:agent-root",
        "task": "count",
        "workspace": "/srv/family",
        "writable_paths": ("src/", "notes.md"),
        "is_own_workspace": False,
        "wait": WaitFor.RESULT,
        "profile": SpawnProfile.STANDARD,
        "on_parent_exit": OnParentExit.REQUEST_STOP,
        "name": "counter",
        "idempotency_key": "k-1",
        "body_sha256": "ab",
        "answer": "{}",
        "created_at": NOON,
        "deadline_at": NOON + timedelta(hours=1),
        "effective_timeout_ms": 3_600_000,
        "capped_by": None,
    }
    return SpawnRecord(**(plain | fields))  # type: ignore[arg-type]  # filled in by the test


def add_family(tx: Transaction) -> None:
    agents.add(tx, agent(ROOT))
    child = agent(
        CHILD, parent_agent_id=ROOT, depth=1, status=AgentStatus.PENDING, kind=AgentKind.JOB, runner=""
    )
    agents.add(tx, child)
    spawns.add(tx, record())


async def test_what_is_written_of_an_agent_is_read_again(db: Database) -> None:
    narrowed = SpawnPermissions(can_spawn=True, chat=False, inherit_github_token=False, detach=True)
    given = agent(
        CHILD,
        parent_agent_id=ROOT,
        depth=3,
        kind=AgentKind.JOB,
        deadline_at=NOON + timedelta(minutes=5),
        permissions=narrowed,
    )

    def body(tx: Transaction) -> None:
        agents.add(tx, agent(ROOT))
        agents.add(tx, given)

    await db.run(body)

    assert await db.run(lambda tx: agents.get(tx, CHILD)) == given
    assert await db.run(lambda tx: agents.without_chat(tx, [ROOT, CHILD])) == {CHILD}


async def test_what_is_written_of_a_spawn_is_read_again(db: Database) -> None:
    result = SpawnResult(
        output="seven",
        files_modified=("a", "b"),
        shared_with=(OTHER,),
        exit_code=3,
        error="odd",
        duration_ms=12,
    )

    def body(tx: Transaction) -> None:
        add_family(tx)
        spawns.note_stop(tx, CHILD, StopReason.MANUAL, stopped_by=ROOT)
        spawns.note_stop(tx, CHILD, StopReason.TIMEOUT, stopped_by=None)
        spawns.end(tx, CHILD, result)

    await db.run(body)

    found = await db.run(lambda tx: spawns.get(tx, CHILD))
    assert found == record(stop_reason=StopReason.MANUAL, stopped_by=ROOT, result=result)
    assert await db.run(lambda tx: spawns.some(tx, [CHILD, OTHER])) == {CHILD: found}


async def test_one_key_of_one_caller_is_one_spawn(db: Database) -> None:
    await db.run(add_family)

    with pytest.raises(sqlite3.IntegrityError):
        await db.run(lambda tx: spawns.add(tx, record(OTHER)))
    await db.run(lambda tx: spawns.add(tx, record(OTHER, caller_key="operator")))


async def test_a_root_begins_a_tree_and_a_child_is_one_more_of_it(db: Database) -> None:
    await db.run(add_family)

    tree = await db.run(lambda tx: trees.get(tx, TREE))
    assert tree is not None
    assert (tree.root_agent_id, tree.status) == (ROOT, TreeStatus.ACTIVE)
    assert (tree.total_agents, tree.max_depth_reached) == (2, 1)


async def test_a_reserved_agent_is_claimed_once(db: Database) -> None:
    await db.run(add_family)

    def claim(tx: Transaction) -> bool:
        return agents.claim(tx, CHILD, runner="docker", provider="script", at=NOON + timedelta(seconds=9))

    claimed = [await db.run(claim), await db.run(claim)]

    found = await db.run(lambda tx: agents.get(tx, CHILD))
    assert claimed == [True, False]
    assert found is not None
    assert (found.status, found.runner, found.provider) == (AgentStatus.STARTING, "docker", "script")
    assert found.started_at == NOON + timedelta(seconds=9)


async def test_a_parent_is_told_as_long_as_it_lives(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add_family(tx)
        spawns.set_reply_due(tx, CHILD, is_due=True)

    def end_root(tx: Transaction) -> None:
        agents.end(
            tx,
            ROOT,
            was=AgentStatus.STARTING,
            now=AgentStatus.FAILED,
            at=NOON,
            exit_code=1,
            reason=EndReason.CRASHED,
        )

    await db.run(body)
    before = await db.run(spawns.to_tell)
    await db.run(end_root)

    assert [each.agent_id for each in before] == [CHILD]
    assert await db.run(spawns.to_tell) == []


async def test_waits_are_met_by_what_they_want(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[AgentId], list[AgentId], bool]:
        for waiter, wanted in ((ROOT, WaitFor.READY), (OTHER, WaitFor.RESULT)):
            waits.add(tx, Wait(waiter=waiter, awaited=CHILD, wanted=wanted), at=NOON)
        ready = waits.meet(tx, CHILD, only_ready=True)
        ended = waits.meet(tx, CHILD, only_ready=False)
        return ready, ended, waits.end_of_waiter(tx, OTHER)

    assert await db.run(body) == ([ROOT], [OTHER], False)


async def test_what_is_forgotten_of_agents_is_forgotten_of_their_spawns_and_trees(db: Database) -> None:
    later = NOON + timedelta(days=31)

    def body(tx: Transaction) -> None:
        add_family(tx)
        for agent_id, was in ((CHILD, AgentStatus.PENDING), (ROOT, AgentStatus.STARTING)):
            agents.end(
                tx, agent_id, was=was, now=AgentStatus.LOST, at=NOON, exit_code=None, reason=EndReason.STOPPED
            )
        trees.end(tx, TREE, at=NOON)

    def prune(tx: Transaction) -> list[int]:
        steps = (prune_agents, prune_agents, prune_agents, trees.prune)
        return [step(tx, before=later, count=9) for step in steps]

    def left(tx: Transaction) -> list[int]:
        tables = ("agents", "spawns", "trees")
        return [len(tx.all(f"SELECT 1 FROM {table}")) for table in tables]

    await db.run(body)
    before = await db.run(left)
    gone = await db.run(prune)

    assert before == [2, 1, 1]
    assert gone == [1, 1, 0, 1], "the child first"
    assert await db.run(left) == [0, 0, 0]


async def test_who_started_somebody_is_known_as_long_as_he_is(db: Database) -> None:
    def body(tx: Transaction) -> int:
        add_family(tx)
        agents.end(
            tx,
            ROOT,
            was=AgentStatus.STARTING,
            now=AgentStatus.LOST,
            at=NOON,
            exit_code=None,
            reason=EndReason.STOPPED,
        )
        return prune_agents(tx, before=NOON + timedelta(days=400), count=9)

    gone = await db.run(body)

    assert gone == 0
    assert await db.run(lambda tx: [each.agent_id for each in lineage.ancestors(tx, CHILD)]) == [ROOT, CHILD]
    assert await db.run(lambda tx: spawns.get(tx, CHILD)) is not None


async def test_idle_agents_of_chats_hold_no_place_and_all_others_do(db: Database) -> None:
    def body(tx: Transaction) -> list[int]:
        counts = [lineage.count_holding(tx)]
        agents.add(tx, agent("agent-idle", status=AgentStatus.RUNNING))
        counts.append(lineage.count_holding(tx))
        agents.add(tx, agent("agent-new", status=AgentStatus.STARTING))
        counts.append(lineage.count_holding(tx))
        agents.add(tx, agent("agent-job", status=AgentStatus.PENDING, kind=AgentKind.JOB))
        counts.append(lineage.count_holding(tx))
        return counts

    assert await db.run(body) == [0, 0, 1, 2]


async def test_agents_of_an_older_store_are_roots_of_trees_of_their_own(tmp_path: Path) -> None:
    path, backups = tmp_path / "store.db", tmp_path / "backups"
    before = [step for step in shipped_migrations() if step.number <= 10]
    old = await Database.open(path, backups=backups, on_wake=None, migrations=before)
    sql = (
        "INSERT INTO agents (agent_id, tree_id, folder, chat_jid, box, runner, provider, status, is_main,"
        " started_ms, ended_ms, task_run_id) VALUES (?, ?, 'f', 'c', 'f', 'r', 'p', ?, 0, 5, ?, ?)"
    )
    rows = [
        ("agent-1", "tree-1", "completed", 9, None),
        ("agent-2", "tree-2", "running", None, "run-1"),
    ]
    await old.run(lambda tx: tx.execute_many(sql, rows))
    await old.close()

    opened = await Database.open(path, backups=backups, on_wake=None)
    found = await opened.run(lambda tx: tx.all("SELECT * FROM agents ORDER BY agent_id"))
    kept = await opened.run(lambda tx: tx.all("SELECT * FROM trees ORDER BY tree_id"))
    await opened.close()

    assert [(row["kind"], row["depth"], row["parent_agent_id"]) for row in found] == [
        ("session", 0, None),
        ("job", 0, None),
    ]
    assert [(row["root_agent_id"], row["status"], row["ended_ms"], row["total_agents"]) for row in kept] == [
        ("agent-1", "terminated", 9, 1),
        ("agent-2", "active", None, 1),
    ]
