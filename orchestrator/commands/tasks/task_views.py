"""A task as those who ask see it. Source: contracts.md section 4, snapshots."""

from datetime import datetime
from typing import Final

from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import Task
from orchestrator.core.tasks.schedule import zone_or_utc

WITHHELD: Final = (
    "(Not shown to you: others than operators may have written it. An operator reads it with "
    "`dovecote task show {task_id}`.)"
)


def sees_all_groups(caller: Caller, rights: Rights) -> bool:
    """Whether the tasks of every group are shown: to main only while none but operators spoke to it."""
    return not isinstance(caller, AgentCaller) or (caller.is_main and rights is Rights.OPERATOR)


def task_view(task: Task, *, reader: Caller) -> dict[str, object]:
    """A task as agents and the command line see it; times in ISO 8601, both spellings of the schedule.

    An agent is not given the prompt of another group's task that keeps less than an operator's rights: it
    would read the words of people who may not set it off, with rights that they do not have.
    """
    return {
        "id": task.task_id,
        "groupFolder": task.group,
        "chatJid": task.chat_jid,
        "title": task.title,
        "prompt": WITHHELD.format(task_id=task.task_id) if _is_withheld(task, reader) else task.prompt,
        "scheduleType": task.kind.value,
        "scheduleValue": task.schedule_value,
        "schedule_type": task.kind.value,
        "schedule_value": task.schedule_value,
        "timezone": task.timezone,
        "contextMode": task.context_mode.value,
        "catchUp": task.catch_up.value,
        "notify": task.notify,
        "status": task.status.value,
        "nextRun": _shown(task.next_run_at, task.timezone),
        "next_run": _shown(task.next_run_at, task.timezone),
        "lastRun": _shown(task.last_run_at, task.timezone),
        "lastStatus": None if task.last_status is None else task.last_status.value,
    }


def _is_withheld(task: Task, reader: Caller) -> bool:
    is_foreign = isinstance(reader, AgentCaller) and reader.group != task.group
    return is_foreign and task.rights is not Rights.OPERATOR


def _shown(at: datetime | None, zone: str) -> str | None:
    """In its own zone; one unreadable task must not hide the others."""
    return None if at is None else at.astimezone(zone_or_utc(zone)).isoformat(timespec="seconds")
