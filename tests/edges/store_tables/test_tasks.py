"""The tables of tasks and of their runs."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.contracts.ids import AgentId, GroupFolder, RunId, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import (
    CatchUp,
    ContextMode,
    FailureClass,
    RunStatus,
    ScheduleKind,
    TaskRun,
    TaskStatus,
)
from orchestrator.store import task_runs, tasks
from orchestrator.store.database import Database
from orchestrator.store.migrate import shipped_migrations
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import NOON
from tests.support.task_rows import task

FAMILY, CLUB = GroupFolder("family"), GroupFolder("club")


def run(name: str = "run-1", *, of: str = "task-1", **fields: Any) -> TaskRun:
    plain: dict[str, Any] = {
        "run_id": RunId(name),
        "task_id": TaskId(of),
        "planned_at": NOON,
        "status": RunStatus.CLAIMED,
        "claimed_at": NOON,
        "due_at": NOON,
    }
    return TaskRun(**(plain | fields))


async def test_a_task_comes_back_as_it_was_stored(db: Database) -> None:
    made = task(
        alias="task-17-abc",
        timezone="Europe/Berlin",
        context_mode=ContextMode.ISOLATED,
        catch_up=CatchUp.ALL,
        notify=False,
        rights=Rights.BOT,
    )
    await db.run(lambda tx: tasks.add(tx, made))

    assert await db.run(lambda tx: tasks.get(tx, "task-1")) == made


async def test_everything_that_may_change_of_a_task_is_written(db: Database) -> None:
    made = task()
    changed = replace(
        made,
        title="Cat",
        prompt="Feed the cat",
        kind=ScheduleKind.CRON,
        schedule_value="0 9 * * *",
        timezone="Asia/Tokyo",
        context_mode=ContextMode.ISOLATED,
        catch_up=CatchUp.SKIP,
        notify=False,
        status=TaskStatus.PAUSED,
        rights=Rights.MEMBER,
        next_run_at=None,
        last_run_at=NOON,
        last_status=RunStatus.FAILED,
        failures=5,
        paused_why="5 runs failed in a row",
    )

    def body(tx: Transaction) -> bool:
        tasks.add(tx, made)
        return tasks.write(tx, changed, was=TaskStatus.ACTIVE, at=NOON)

    assert await db.run(body)
    assert await db.run(lambda tx: tasks.get(tx, "task-1")) == changed


async def test_a_task_that_has_moved_meanwhile_is_not_written(db: Database) -> None:
    def body(tx: Transaction) -> bool:
        tasks.add(tx, task(status=TaskStatus.CANCELLED))
        return tasks.write(tx, task(title="Cat"), was=TaskStatus.ACTIVE, at=NOON)

    assert not await db.run(body)
    assert await db.run(lambda tx: tasks.get(tx, "task-1")) == task(status=TaskStatus.CANCELLED)


async def test_only_active_tasks_with_a_time_are_due_the_longest_due_first(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[str], list[str], object]:
        for name, hours, status in (
            ("second", 2, TaskStatus.ACTIVE),
            ("first", 1, TaskStatus.ACTIVE),
            ("rests", 0, TaskStatus.PAUSED),
            ("over", 0, TaskStatus.COMPLETED),
            ("later", 9, TaskStatus.ACTIVE),
        ):
            tasks.add(tx, task(name, next_run_at=NOON + timedelta(hours=hours), status=status))
        tasks.add(tx, task("claimed", next_run_at=None))
        now = NOON + timedelta(hours=2)
        return (
            [each.task_id for each in tasks.due(tx, now=now, count=10)],
            [each.task_id for each in tasks.due(tx, now=now, count=1)],
            tasks.next_due(tx),
        )

    assert await db.run(body) == (["first", "second"], ["first"], NOON + timedelta(hours=1))


async def test_nothing_is_due_where_there_is_no_task(db: Database) -> None:
    assert await db.run(tasks.next_due) is None


async def test_a_group_lists_and_counts_what_is_active_or_rests(db: Database) -> None:
    def body(tx: Transaction) -> tuple[list[str], int, list[str]]:
        tasks.add(tx, task("b", created_at=NOON + timedelta(seconds=1)))
        tasks.add(tx, task("a", status=TaskStatus.PAUSED))
        tasks.add(tx, task("over", status=TaskStatus.COMPLETED))
        tasks.add(tx, task("gone", status=TaskStatus.CANCELLED))
        tasks.add(tx, task("other", group=CLUB))
        return (
            [each.task_id for each in tasks.of_group(tx, FAMILY)],
            tasks.count_active(tx, FAMILY),
            [each.task_id for each in tasks.everywhere(tx)],
        )

    assert await db.run(body) == (["a", "b"], 2, ["other", "a", "b"])


async def test_an_alias_names_a_task_in_its_own_group(db: Database) -> None:
    def body(tx: Transaction) -> list[str | None]:
        tasks.add(tx, task("task-1", alias="mine"))
        tasks.add(tx, task("task-2", alias="mine", group=CLUB))
        found = [tasks.named(tx, folder, "mine") for folder in (FAMILY, CLUB, GroupFolder("main"))]
        return [None if each is None else each.task_id for each in found]

    assert await db.run(body) == ["task-1", "task-2", None]


async def test_a_slot_is_claimed_once_and_runs_by_hand_as_often_as_asked(db: Database) -> None:
    def body(tx: Transaction) -> list[bool]:
        tasks.add(tx, task())
        return [
            task_runs.add(tx, run("run-1")),
            task_runs.add(tx, run("run-2")),
            task_runs.add(tx, run("run-3", planned_at=None)),
            task_runs.add(tx, run("run-4", planned_at=None)),
        ]

    assert await db.run(body) == [True, False, True, True]


async def test_everything_that_may_change_of_a_run_is_written_unless_it_moved(db: Database) -> None:
    changed = run(
        status=RunStatus.STARTED,
        due_at=NOON + timedelta(seconds=5),
        agent_id=AgentId("agent-1"),
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=9),
        failure=FailureClass.PROVIDER,
        error="no room",
        output="so far",
        tries=2,
        deaths=1,
    )

    def body(tx: Transaction) -> list[bool]:
        tasks.add(tx, task())
        task_runs.add(tx, run())
        return [
            task_runs.write(tx, changed, was=RunStatus.CLAIMED),
            task_runs.write(tx, run(), was=RunStatus.CLAIMED),
        ]

    assert await db.run(body) == [True, False]
    assert await db.run(lambda tx: task_runs.get(tx, RunId("run-1"))) == changed
    assert await db.run(lambda tx: task_runs.of_agent(tx, AgentId("agent-1"))) == changed


async def test_claimed_runs_wait_by_their_due_time_and_none_of_a_task_that_runs(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        for name in ("a", "b", "c"):
            tasks.add(tx, task(name))
        later = NOON + timedelta(seconds=5)
        task_runs.add(tx, run("a-2", of="a", planned_at=later, due_at=later))
        task_runs.add(tx, run("a-1", of="a", due_at=later))
        task_runs.add(tx, run("b-1", of="b"))
        task_runs.add(tx, run("b-2", of="b", planned_at=later, due_at=later + timedelta(hours=1)))
        task_runs.add(tx, run("c-1", of="c"))
        task_runs.write(tx, run("c-1", of="c", status=RunStatus.STARTED), was=RunStatus.CLAIMED)
        task_runs.add(tx, run("c-2", of="c", planned_at=later))
        return [each.run_id for each in task_runs.waiting(tx, now=later)]

    assert await db.run(body) == ["b-1", "a-1", "a-2"]


@pytest.mark.parametrize("status", [each for each in RunStatus if each not in ("claimed", "started")])
async def test_a_run_that_has_ended_is_open_no_more(db: Database, status: RunStatus) -> None:
    def body(tx: Transaction) -> tuple[TaskRun | None, TaskRun | None, list[TaskRun]]:
        tasks.add(tx, task())
        task_runs.add(tx, run())
        before = task_runs.open_of_task(tx, TaskId("task-1"))
        task_runs.write(tx, run(status=status), was=RunStatus.CLAIMED)
        return (
            before,
            task_runs.open_of_task(tx, TaskId("task-1")),
            task_runs.claimed_of_task(tx, TaskId("task-1")),
        )

    assert await db.run(body) == (run(), None, [])


async def test_the_history_is_the_newest_first_and_old_runs_are_forgotten(db: Database) -> None:
    def body(tx: Transaction) -> int:
        tasks.add(tx, task())
        for hours in range(4):
            at = NOON + timedelta(hours=hours)
            task_runs.add(tx, run(f"run-{hours}", planned_at=at, claimed_at=at, ended_at=at))
        task_runs.add(tx, run("open", planned_at=None))
        return task_runs.prune(tx, before=NOON + timedelta(hours=2), count=9)

    assert await db.run(body) == 2
    async with db.reader() as reader:
        found = await task_runs.history(reader, TaskId("task-1"), count=2)
        everything = await task_runs.history(reader, TaskId("task-1"), count=9)

    assert [each.run_id for each in found] == ["run-3", "run-2"]
    assert {each.run_id for each in everything} == {"run-3", "run-2", "open"}


async def test_tasks_that_were_over_in_an_older_store_ended_when_they_were_last_heard_of(
    tmp_path: Path,
) -> None:
    path, backups = tmp_path / "store.db", tmp_path / "backups"
    before = [step for step in shipped_migrations() if step.number <= 17]
    old = await Database.open(path, backups=backups, on_wake=None, migrations=before)
    sql = (
        "INSERT INTO tasks (task_id, folder, chat_jid, title, prompt, kind, schedule_value, timezone, notify,"
        " context_mode, catch_up, rights, status, created_ms, last_run_ms)"
        " VALUES (?, 'f', 'c', 't', 'p', 'once', '', 'UTC', 1, 'group', 'latest', 'operator', ?, 5, ?)"
    )
    runs = (
        "INSERT INTO task_runs (run_id, task_id, status, claimed_ms, due_ms, ended_ms)"
        " VALUES ('r', 'ran', 'succeeded', 6, 6, 9)"
    )
    rows = [("never", "cancelled", None), ("ran", "completed", 7), ("began", "completed", 8)]
    await old.run(lambda tx: tx.execute_many(sql, [*rows, ("rests", "paused", 8)]))
    await old.run(lambda tx: tx.execute(runs))
    await old.close()

    opened = await Database.open(path, backups=backups, on_wake=None)
    found = await opened.run(lambda tx: tx.all("SELECT task_id, ended_ms FROM tasks"))
    await opened.close()

    assert {row["task_id"]: row["ended_ms"] for row in found} == {
        "never": 5,
        "ran": 9,
        "began": 8,
        "rests": None,
    }
