"""What the operator sees of tasks beyond their list: one in full, those that are over, and their runs."""

from collections.abc import Mapping

from orchestrator.commands.recent import MAX_ROWS
from orchestrator.commands.services import Services
from orchestrator.commands.tasks.task_views import task_view
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.records.tasks import Task, TaskRun
from orchestrator.store import task_runs, tasks
from orchestrator.store.times import shown_at


async def show_task(services: Services, task_id: str) -> Mapping[str, object]:
    """One task, ended ones too, with what the list leaves out. Raises NotFound."""
    task = await _found_task(services, task_id)
    return {
        **task_view(task, reader=OperatorCaller()),
        "createdAt": shown_at(task.created_at),
        "rights": task.rights.value,
        "failuresInARow": task.failures,
        "pausedWhy": task.paused_why,
        "alias": task.alias,
    }


async def ended_tasks(services: Services, folder: str | None) -> list[Mapping[str, object]]:
    """The tasks of one group or of all that are over, what ended last first."""
    async with services.db.reader() as reader:
        found = await tasks.list_ended(reader, folder, count=MAX_ROWS)
    return [task_view(each, reader=OperatorCaller()) for each in found]


async def task_history(services: Services, task_id: str, *, count: int) -> list[Mapping[str, object]]:
    """The newest runs of a task, newest first. Raises NotFound."""
    task = await _found_task(services, task_id)
    async with services.db.reader() as reader:
        return [_run_view(run) for run in await task_runs.history(reader, task.task_id, count=count)]


async def _found_task(services: Services, task_id: str) -> Task:
    async with services.db.reader() as reader:
        task = await tasks.find(reader, task_id)
    if task is None:
        raise NotFound(
            f"There is no task {task_id!r}.",
            code=ErrorCode.TASK_NOT_FOUND,
            suggestion="See their ids: dovecote task list",
        )
    return task


def _run_view(run: TaskRun) -> Mapping[str, object]:
    return {
        "runId": run.run_id,
        "taskId": run.task_id,
        "status": run.status.value,
        "plannedAt": shown_at(run.planned_at),
        "claimedAt": shown_at(run.claimed_at),
        "startedAt": shown_at(run.started_at),
        "endedAt": shown_at(run.ended_at),
        "failure": None if run.failure is None else run.failure.value,
        "error": run.error,
        "output": run.output,
        "agentId": run.agent_id,
    }
