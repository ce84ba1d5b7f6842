"""Scheduled prompts over HTTP, and what there is to see of messages and refused requests."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.commands.recent import MAX_ROWS, recent_messages, recent_texts, refused_requests
from orchestrator.commands.services import Services
from orchestrator.commands.tasks.task_records import ended_tasks, show_task, task_history
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
    UpdateTask,
)

Object = Mapping[str, object]
_Count = Annotated[int, Query(ge=1, le=MAX_ROWS)]


class NewTaskBody(BaseModel):
    """A task to schedule; what is left out takes the default. Fields as in `schedule_task`."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)

    group_folder: str
    prompt: str
    schedule_type: str
    schedule_value: str
    context_mode: str = "group"
    timezone: str | None = None
    title: str | None = None
    catch_up: str = "latest"
    notify: bool = True


class ChangedTaskBody(BaseModel):
    """What changes of a task. Fields as in `update_task`."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)

    prompt: str | None = None
    schedule_type: str | None = None
    schedule_value: str | None = None
    context_mode: str | None = None
    timezone: str | None = None
    title: str | None = None
    catch_up: str | None = None
    notify: bool | None = None


def task_routes(services: Services) -> APIRouter:
    """`/api/v1/tasks`: each route is one request of contracts.md section 4, by the operator's right."""
    router = APIRouter(prefix="/api/v1/tasks", tags=["tasks"])

    @router.get("")
    async def get_tasks(group: str | None = None, ended: bool = False) -> Object:
        """Active and paused tasks, of one group or of all; with `ended` those that are over."""
        if ended:
            return {"tasks": await ended_tasks(services, group)}
        folder = None if group is None else GroupFolder(group)
        return await ask_as_operator(services, ListTasks(group_folder=folder))

    @router.post("", status_code=201)
    async def post_task(body: NewTaskBody) -> Object:
        """Schedule a prompt."""
        fields = body.model_dump() | {"group_folder": GroupFolder(body.group_folder)}
        return await ask_as_operator(services, ScheduleTask(**fields))

    @router.get("/{task_id}")
    async def get_task(task_id: str) -> Object:
        """One task, ended ones too."""
        return await show_task(services, task_id)

    @router.patch("/{task_id}")
    async def patch_task(task_id: str, body: ChangedTaskBody) -> Object:
        """Change what is given of a task."""
        return await ask_as_operator(services, UpdateTask(task_id=task_id, **body.model_dump()))

    @router.get("/{task_id}/runs")
    async def get_runs(task_id: str, count: _Count = 20) -> list[Object]:
        """The newest runs of a task, newest first."""
        return await task_history(services, task_id, count=count)

    @router.post("/{task_id}/pause")
    async def post_pause(task_id: str) -> Object:
        """Let a task rest."""
        return await ask_as_operator(services, PauseTask(task_id=task_id))

    @router.post("/{task_id}/resume")
    async def post_resume(task_id: str) -> Object:
        """Let a task run again."""
        return await ask_as_operator(services, ResumeTask(task_id=task_id))

    @router.post("/{task_id}/cancel")
    async def post_cancel(task_id: str) -> Object:
        """End a task for good."""
        return await ask_as_operator(services, CancelTask(task_id=task_id))

    @router.post("/{task_id}/run")
    async def post_run(task_id: str) -> Object:
        """Run a task now, once."""
        return await ask_as_operator(services, RunTask(task_id=task_id))

    return router


def seen_routes(services: Services) -> APIRouter:
    """`/api/v1/messages` and `/api/v1/errors`."""
    router = APIRouter(prefix="/api/v1", tags=["management"])

    @router.get("/messages")
    async def get_messages(chat: str | None = None, count: _Count = 50) -> list[Object]:
        """The newest messages, oldest first."""
        return await recent_messages(services, None if chat is None else Jid(chat), count=count)

    @router.get("/messages/sent")
    async def get_sent(chat: str | None = None, count: _Count = 50) -> list[Object]:
        """The newest texts that were sent to chats, oldest first."""
        return await recent_texts(services, None if chat is None else Jid(chat), count=count)

    @router.get("/errors")
    async def get_errors(box: str | None = None, count: _Count = 50) -> list[Object]:
        """The newest refused requests, newest first."""
        return await refused_requests(services, box, count=count)

    return router
