"""Tasks of a home on disk: planned by a test, watched to their end."""

from datetime import timedelta
from typing import Any

from orchestrator.app.doors import App
from orchestrator.app.parts import SystemClock
from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.tasks import ScheduleKind, Task
from orchestrator.contracts.seams import Topic
from orchestrator.store import tasks
from orchestrator.store.transaction import Transaction
from tests.support.eventually import eventually
from tests.support.file_channel import PREFIX
from tests.support.home_on_disk import HomeOnDisk
from tests.support.task_rows import task


def due_now(name: str = "task-1", *, folder: str = "kitchen", **fields: Any) -> Task:
    """A task of a group that is due once, this instant."""
    now = SystemClock().now()
    plain: dict[str, Any] = {
        "group": GroupFolder(folder),
        "chat_jid": Jid(f"{PREFIX}{folder}"),
        "kind": ScheduleKind.ONCE,
        "schedule_value": now.isoformat(),
        "created_at": now,
        "next_run_at": now,
    }
    return task(name, **(plain | fields))


def hourly_from_now(name: str = "task-1", **fields: Any) -> Task:
    """A task that is due now and each hour from now on."""
    return due_now(name, **({"kind": ScheduleKind.INTERVAL, "schedule_value": "3600000"} | fields))


async def plan(home: HomeOnDisk, *planned: Task) -> None:
    """Store tasks while nothing runs."""
    async with open_store_services(home.opened()) as services:
        await _add(services, planned)


async def plan_in(app: App, *planned: Task) -> None:
    """Store tasks in a running orchestrator."""
    await _add(app.services, planned)


async def _add(services: Services, planned: "tuple[Task, ...]") -> None:
    def body(tx: Transaction) -> None:
        for each in planned:
            tasks.add(tx, each)
        tx.wake(Topic.ALARM)

    await services.db.run(body)


def run_statuses(home: HomeOnDisk, name: str = "task-1") -> list[str]:
    """Of a task's runs, oldest first."""
    found = home.rows("SELECT status FROM task_runs WHERE task_id = ? ORDER BY claimed_ms, planned_ms", name)
    return [row["status"] for row in found]


async def runs_are(home: HomeOnDisk, *statuses: str, name: str = "task-1", within_s: float = 50.0) -> None:
    """Wait until a task has exactly these runs."""
    await eventually(
        lambda: run_statuses(home, name) == [*statuses],
        within_s=within_s,
        what=lambda: (statuses, home.rows("SELECT * FROM task_runs"), home.story()),
    )


async def tasks_are_quiet(home: HomeOnDisk) -> None:
    """Wait until no run is under way and nothing is due."""
    now_ms = int((SystemClock().now() + timedelta(seconds=1)).timestamp() * 1000)
    due = f"SELECT 1 FROM tasks WHERE status = 'active' AND next_run_ms <= {now_ms}"
    under_way = "SELECT 1 FROM task_runs WHERE status IN ('claimed', 'started')"
    await eventually(
        lambda: not home.rows(f"{due} UNION ALL {under_way}") and home.is_quiet(),
        within_s=50,
        what=lambda: (home.rows("SELECT * FROM task_runs"), home.story()),
    )
