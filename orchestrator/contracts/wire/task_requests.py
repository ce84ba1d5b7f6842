"""What an agent may ask for in `tasks/` about its schedule. Source: contracts.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import GroupFolder, Jid, RequestId
from orchestrator.contracts.wire.boxes import TASKS
from orchestrator.contracts.wire.codec import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTask(Wire):
    """Schedule a prompt for this group.

    schedule_type: cron, interval or once. schedule_value: five cron fields or @daily and its kind; a
    number of milliseconds; an ISO 8601 instant. context_mode: group (default) or isolated.
    group_folder, chat_jid: absent means the caller's own. task_id: an agent's own name for it.
    """

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "schedule_task"

    prompt: str
    schedule_type: str
    schedule_value: str
    context_mode: str = "group"
    group_folder: GroupFolder | None = None
    chat_jid: Jid | None = None
    timezone: str | None = None
    title: str | None = None
    catch_up: str = "latest"
    notify: bool = True
    task_id: str | None = None
    request_id: RequestId | None = None
    type: str = "schedule_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTask(Wire):
    """Change what is given, keep the rest."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "update_task"

    task_id: str
    group_folder: GroupFolder | None = None
    prompt: str | None = None
    schedule_type: str | None = None
    schedule_value: str | None = None
    context_mode: str | None = None
    timezone: str | None = None
    title: str | None = None
    catch_up: str | None = None
    notify: bool | None = None
    request_id: RequestId | None = None
    type: str = "update_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTask(Wire):
    """Let a task rest until it is resumed."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "pause_task"

    task_id: str
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "pause_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTask(Wire):
    """Let a paused task run again, from its next time on."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "resume_task"

    task_id: str
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "resume_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelTask(Wire):
    """End a task for good; its history is kept."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "cancel_task"

    task_id: str
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "cancel_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask(Wire):
    """Run a task now, once, beside its schedule."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "run_task"

    task_id: str
    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "run_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTasks(Wire):
    """Name the tasks that the caller may see: its own group's; main sees all."""

    directory: ClassVar[str] = TASKS
    type_name: ClassVar[str] = "list_tasks"

    group_folder: GroupFolder | None = None
    request_id: RequestId | None = None
    type: str = "list_tasks"


REQUESTS: Final = (ScheduleTask, UpdateTask, PauseTask, ResumeTask, CancelTask, RunTask, ListTasks)
"""The request types of this area."""

OLD_SPELLINGS: Final[Mapping[str, str]] = {
    "schedule_type": "scheduleType",
    "schedule_value": "scheduleValue",
    "context_mode": "contextMode",
    "targetJid": "chatJid",
}
"""Keys that agents made for NanoClaw 1.x write, and ours."""
