"""Reminders as the host keeps them: tasks of this group, each with a number that stays its own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from container.box_client import BoxClient, ReplyUnknown, Request
from container.drivers.time_meaning import Schedule
from orchestrator.contracts.errors import ErrorCode, InvalidRequest, Unavailable
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    ScheduleTask,
    UpdateTask,
)

_TITLE: Final = re.compile(r"Reminder ([0-9]{1,6})\b")
_PAUSED: Final = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """One task. number: 0 until it has one; next_at: None while none is known."""

    task_id: str
    number: int
    text: str
    kind: str
    value: str
    is_paused: bool
    next_at: datetime | None


class Reminders:
    """The tasks of one group. Methods raise DovecoteError with the host's own sentence."""

    def __init__(
        self, box: BoxClient, group: GroupFolder, *, timezone: str, patience_s: float = 15.0
    ) -> None:
        self._box = box
        self._group = group
        self._timezone = timezone
        self._patience_s = patience_s

    async def all(self) -> list[Reminder]:
        """Every active and paused one, by number."""
        result = await self._ask(ListTasks(group_folder=self._group))
        tasks = result.get("tasks")
        plain = [task for task in tasks if isinstance(task, Mapping)] if isinstance(tasks, Sequence) else []
        return numbered(plain)

    async def add(self, text: str, schedule: Schedule) -> Reminder:
        """A new one, with the first number that is above all others."""
        number = max((reminder.number for reminder in await self.all()), default=0) + 1
        request = ScheduleTask(
            prompt=text,
            schedule_type=schedule.kind,
            schedule_value=schedule.value,
            timezone=self._timezone,
            title=_title(number, text),
        )
        return replace(_reminder(await self._ask(request)), number=number)

    async def change(self, reminder: Reminder, *, text: str, schedule: Schedule | None) -> Reminder:
        """The same with another text, if there is one, and another time, if there is one."""
        request = UpdateTask(task_id=reminder.task_id)
        if text:
            request = replace(request, prompt=text, title=_title(reminder.number, text))
        if schedule is not None:
            request = replace(
                request,
                schedule_type=schedule.kind,
                schedule_value=schedule.value,
                timezone=self._timezone,
            )
        return replace(_reminder(await self._ask(request)), number=reminder.number)

    async def pause(self, reminder: Reminder) -> Reminder:
        """Let it rest."""
        paused = _reminder(await self._ask(PauseTask(task_id=reminder.task_id)))
        return replace(paused, number=reminder.number)

    async def resume(self, reminder: Reminder) -> Reminder:
        """Let it come again."""
        resumed = _reminder(await self._ask(ResumeTask(task_id=reminder.task_id)))
        return replace(resumed, number=reminder.number)

    async def cancel(self, reminder: Reminder) -> None:
        """End it for good."""
        await self._ask(CancelTask(task_id=reminder.task_id))

    async def _ask(self, request: Request) -> Mapping[str, object]:
        reply = await self._box.request(request, timeout_s=self._patience_s)
        if isinstance(reply, ReplyUnknown):
            raise Unavailable(
                f"I had no answer within {self._patience_s:g} seconds and can't tell what came of it.",
                code=ErrorCode.TIMEOUT,
                suggestion="Look with `list reminders` in a moment.",
            )
        if reply.error is not None:
            raise InvalidRequest(reply.error.message, suggestion=_for_people(reply.error.suggestion))
        return reply.result or {}


def numbered(tasks: Sequence[Mapping[str, object]]) -> list[Reminder]:
    """The tasks as reminders, by number: that of the title, else the first that is free.

    A number is kept in the title, so that it stays when others end. Tasks that others made have none.
    """
    found = [(_number(task), _reminder(task)) for task in tasks]
    taken: set[int] = set()
    kept: list[Reminder] = []
    others: list[Reminder] = []
    for number, reminder in found:
        if number is None or number in taken:
            others.append(reminder)
        else:
            taken.add(number)
            kept.append(replace(reminder, number=number))
    free = (number for number in range(1, len(taken) + len(others) + 1) if number not in taken)
    kept.extend(replace(reminder, number=number) for reminder, number in zip(others, free, strict=False))
    return sorted(kept, key=lambda reminder: reminder.number)


def _reminder(task: Mapping[str, object]) -> Reminder:
    next_run = task.get("nextRun")
    return Reminder(
        task_id=str(task.get("id", "")),
        number=0,
        text=str(task.get("prompt", "")),
        kind=str(task.get("scheduleType", "")),
        value=str(task.get("scheduleValue", "")),
        is_paused=task.get("status") == _PAUSED,
        next_at=datetime.fromisoformat(next_run) if isinstance(next_run, str) else None,
    )


def _number(task: Mapping[str, object]) -> int | None:
    found = _TITLE.match(str(task.get("title", "")))
    return None if found is None else int(found[1]) or None


def _title(number: int, text: str) -> str:
    return f"Reminder {number}: {' '.join(text.split())}"


def _for_people(suggestion: str | None) -> str | None:
    """A suggestion that names no tool of a model's."""
    return None if suggestion is None or "_task" in suggestion else suggestion
