"""What an agent may ask for in `tasks/` about its schedule. Source: contracts.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import GroupFolder, Jid, RequestId
from orchestrator.contracts.wire.boxes import TASKS
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.tools import Tool, ToolInput


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

_PROMPT: Final = ToolInput(
    about=(
        "What is to be done at each run, 1 to 32,000 characters, addressed to yourself as somebody who "
        "knows nothing but these words: name people, places and what to say."
    ),
    example="Remind Ada in the chat that the bins are collected tomorrow morning.",
)
_SCHEDULE_TYPE: Final = ToolInput(
    about=(
        "How schedule_value is read. once: one date and time. cron: times by the calendar. interval: "
        "again and again after the same time, first after one such time from now."
    ),
    example="cron",
    choices=("cron", "interval", "once"),
)
_SCHEDULE_VALUE: Final = ToolInput(
    about=(
        "When, always as a text. For once: an ISO 8601 date and time still to come, such as "
        "2027-01-05T14:00 (in the time zone of the task) or 2027-01-05T14:00:00+01:00. For cron: five "
        "fields, minute hour day-of-month month day-of-week (0 or 7 is Sunday), such as "
        "'0 9 * * 1-5' for 9:00 on weekdays, or @hourly, @daily, @weekly, @monthly; local times in the "
        "time zone of the task. For interval: a whole number of milliseconds, usually at least 60000, "
        "such as 3600000 for every hour."
    ),
    example="0 9 * * 1-5",
)
_CONTEXT_MODE: Final = ToolInput(
    about=(
        "What you know at each run. group: the conversation of this chat goes on, and the run waits its "
        "turn behind it. isolated: a fresh conversation that knows only the prompt, and runs beside the chat."
    ),
    example="group",
    choices=("group", "isolated"),
)
_TASK_ID: Final = ToolInput(
    about="The id of the task, as schedule_task and list_tasks give it.", example="task-0192c3f4a5b6"
)
_LOOK_FIRST: Final = "Call list_tasks to see whether it was done before you try again."

TOOLS: Final = (
    Tool(
        name="schedule_task",
        request=ScheduleTask,
        about=(
            "Have yourself started later, once or again and again, with a prompt; what you then answer is "
            "sent to this chat. Use it for reminders and for regular work. The result has the task's id "
            "and nextRun: check that this is the time that was meant. A chat has at most 100 active tasks."
        ),
        inputs={
            "prompt": _PROMPT,
            "schedule_type": _SCHEDULE_TYPE,
            "schedule_value": _SCHEDULE_VALUE,
            "context_mode": _CONTEXT_MODE,
        },
        done="Scheduled as {id}. Next run: {nextRun} ({timezone}).",
        doubt="Call list_tasks to see whether it was scheduled before you try again, or it may run twice.",
    ),
    Tool(
        name="list_tasks",
        request=ListTasks,
        about=(
            "List the active and paused tasks of this chat's group (from the main group: of all groups), "
            "each with id, title, prompt, schedule, timezone, status, nextRun, lastRun and lastStatus. Use "
            "it to find a task's id. A long prompt is cut to 1,000 characters. It changes nothing."
        ),
        done="Tasks: {count}.",
        doubt="It changes nothing: try again in a minute.",
        only_reads=True,
    ),
    Tool(
        name="update_task",
        request=UpdateTask,
        about=(
            "Change a task: what you give is replaced, the rest stays. To change when it runs, give "
            "schedule_type and schedule_value together. It does not pause or resume the task."
        ),
        inputs={
            "task_id": _TASK_ID,
            "prompt": _PROMPT,
            "schedule_type": _SCHEDULE_TYPE,
            "schedule_value": _SCHEDULE_VALUE,
            "context_mode": _CONTEXT_MODE,
            "timezone": ToolInput(
                about="The time zone of its local times: an IANA name.", example="Europe/Berlin"
            ),
            "title": ToolInput(about="A short name for people, up to 80 characters.", example="Bins"),
            "catch_up": ToolInput(
                about=(
                    "What happens to runs that were missed while nothing ran. latest: one run for the "
                    "last of them. skip: none. all: each of them, up to ten."
                ),
                example="latest",
                choices=("latest", "skip", "all"),
            ),
            "notify": ToolInput(
                about="Whether what its runs answer goes to the chat: true or false.", example=False
            ),
        },
        done="Changed {id}, which is {status}. Next run: {nextRun} ({timezone}).",
        doubt=_LOOK_FIRST,
    ),
    Tool(
        name="pause_task",
        request=PauseTask,
        about="Let a task rest: it keeps its schedule and does not run until resume_task. Twice is no error.",
        inputs={"task_id": _TASK_ID},
        done="{id} is {status}.",
        doubt=_LOOK_FIRST,
    ),
    Tool(
        name="resume_task",
        request=ResumeTask,
        about=(
            "Let a paused task run again, from its next time on; what it missed is not made up for. One "
            "that is active already stays as it is."
        ),
        inputs={"task_id": _TASK_ID},
        done="{id} is {status}. Next run: {nextRun} ({timezone}).",
        doubt=_LOOK_FIRST,
    ),
    Tool(
        name="cancel_task",
        request=CancelTask,
        about="End a task for good; it can't be brought back. To let it rest for a while, use pause_task.",
        inputs={"task_id": _TASK_ID},
        done="{id} is {status} and will not run again.",
        doubt=_LOOK_FIRST,
        ends_something=True,
    ),
    Tool(
        name="run_task",
        request=RunTask,
        about=(
            "Run a task once, now, besides its schedule, which does not move; a paused one runs and stays "
            "paused. The run starts in the background, in group mode after your own turn; this does not "
            "wait for it. If a run is under way already, the result names that one."
        ),
        inputs={"task_id": _TASK_ID},
        done="Run {runId} of {taskId} is {status}.",
        doubt="Call list_tasks after a while and look at lastRun before you try again, or it may run twice.",
    ),
)
"""What a model is offered of this area."""
