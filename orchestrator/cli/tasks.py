"""`dovecote task …`: through the running orchestrator, else on the store with the same commands."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import quote

from orchestrator.cli.client import ApiClient, not_running
from orchestrator.cli.home import Home, open_home_to_ask
from orchestrator.cli.labels import instant
from orchestrator.cli.place import open_place
from orchestrator.cli.table import columns
from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.commands.services import Services
from orchestrator.commands.tasks.task_records import ended_tasks, show_task, task_history
from orchestrator.contracts.errors import ErrorCode, InvalidRequest, NotFound
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.wire.codec import to_plain
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
)
from orchestrator.core.text_cleaning import clean_text

T = TypeVar("T")
Object = Mapping[str, Any]
Step = PauseTask | ResumeTask | CancelTask | RunTask
_PATHS: Final[Mapping[type[Step], str]] = {
    PauseTask: "pause",
    ResumeTask: "resume",
    CancelTask: "cancel",
    RunTask: "run",
}
_NOT_IN_A_BODY: Final = ("type", "requestId", "taskId", "chatJid")
_SPAN: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class TaskDesk(Protocol):
    """Where tasks are managed. Every failure is a `DovecoteError`."""

    async def list_all(self, group: str | None, *, ended: bool) -> Sequence[Object]: ...

    async def show(self, task_id: str) -> Object: ...

    async def history(self, task_id: str, *, count: int) -> Sequence[Object]: ...

    async def add(self, new: ScheduleTask) -> Object: ...

    async def take(self, step: Step) -> Object: ...


class HttpTasks:
    """At the running orchestrator."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def list_all(self, group: str | None, *, ended: bool) -> Sequence[Object]:
        """GET all."""
        query = ({} if group is None else {"group": group}) | ({"ended": "true"} if ended else {})
        found: Sequence[Object] = (await self._client.call("GET", "/api/v1/tasks", query=query))["tasks"]
        return found

    async def show(self, task_id: str) -> Object:
        """GET one."""
        return await self._object("GET", _path(task_id))

    async def history(self, task_id: str, *, count: int) -> Sequence[Object]:
        """GET its runs."""
        path, query = f"{_path(task_id)}/runs", {"count": str(count)}
        runs: Sequence[Object] = await self._client.call("GET", path, query=query)
        return runs

    async def add(self, new: ScheduleTask) -> Object:
        """POST."""
        body = {name: value for name, value in to_plain(new).items() if name not in _NOT_IN_A_BODY}
        return await self._object("POST", "/api/v1/tasks", body=body)

    async def take(self, step: Step) -> Object:
        """POST what is to be done with it."""
        return await self._object("POST", f"{_path(step.task_id)}/{_PATHS[type(step)]}")

    async def _object(self, method: str, path: str, *, body: object = None) -> Object:
        answer: Object = await self._client.call(method, path, body=body)
        return answer


class StoreTasks:
    """At the store of a home in which no orchestrator runs. There nothing can be run."""

    def __init__(self, services: Services, home: Home) -> None:
        self._services = services
        self._home = home

    async def list_all(self, group: str | None, *, ended: bool) -> Sequence[Object]:
        """The command itself."""
        if ended:
            return await ended_tasks(self._services, group)
        folder = None if group is None else GroupFolder(group)
        answer: Object = await ask_as_operator(self._services, ListTasks(group_folder=folder))
        found: Sequence[Object] = answer["tasks"]
        return found

    async def show(self, task_id: str) -> Object:
        """The command itself."""
        return await show_task(self._services, task_id)

    async def history(self, task_id: str, *, count: int) -> Sequence[Object]:
        """The command itself."""
        return await task_history(self._services, task_id, count=count)

    async def add(self, new: ScheduleTask) -> Object:
        """The command itself."""
        return await ask_as_operator(self._services, new)

    async def take(self, step: Step) -> Object:
        """The command itself, but for `run`."""
        if isinstance(step, RunTask):
            raise not_running(self._home.paths)
        return await ask_as_operator(self._services, step)


class NoTasks:
    """At a home that was never used: to look at it makes nothing in it."""

    def __init__(self, home: Home) -> None:
        self._home = home

    async def list_all(self, group: str | None, *, ended: bool) -> Sequence[Object]:
        """None."""
        return []

    async def show(self, task_id: str) -> Object:
        """None."""
        raise self._nothing()

    async def history(self, task_id: str, *, count: int) -> Sequence[Object]:
        """None."""
        raise self._nothing()

    async def add(self, new: ScheduleTask) -> Object:
        """There is no group yet either."""
        raise self._nothing()

    async def take(self, step: Step) -> Object:
        """None."""
        raise self._nothing()

    def _nothing(self) -> NotFound:
        return NotFound(
            f"There are no tasks in {self._home.paths.home} yet.",
            code=ErrorCode.TASK_NOT_FOUND,
            suggestion="Start Dovecote there once, or name another home with --home.",
        )


def list_all(home_option: Path | None, *, group: str | None, ended: bool, as_json: bool) -> None:
    """One line a task that is active or paused, or that is over."""
    found = _at_desk(open_home_to_ask(home_option), lambda desk: desk.list_all(group, ended=ended))
    if as_json:
        _print_json(found)
    elif not found:
        print("No tasks.")
    else:
        heads = ("ID", "GROUP", "STATUS", "NEXT RUN", "SCHEDULE", "TITLE")
        rows = [
            (t["id"], t["groupFolder"], t["status"], t["nextRun"] or "", _schedule(t), t["title"])
            for t in found
        ]
        _print_table(heads, rows)


def show(home_option: Path | None, task_id: str, *, as_json: bool) -> None:
    """Everything about one task."""
    task = _at_desk(open_home_to_ask(home_option), lambda desk: desk.show(task_id))
    if as_json:
        _print_json(task)
        return
    for name, value in task.items():
        if "_" not in name:  # the older spelling repeats the same
            print(f"{name:<15} {'' if value is None else clean_text(instant(str(value)))}".rstrip())


def history(home_option: Path | None, task_id: str, *, count: int, as_json: bool) -> None:
    """One line a run, the newest first."""
    runs = _at_desk(open_home_to_ask(home_option), lambda desk: desk.history(task_id, count=count))
    if as_json:
        _print_json(runs)
    elif not runs:
        print("It has not run yet.")
    else:
        heads = ("PLANNED", "STATUS", "STARTED", "ENDED", "WHAT CAME OF IT")
        rows = [
            (
                r["plannedAt"] or "by hand",
                r["status"],
                r["startedAt"] or "",
                r["endedAt"] or "",
                r["error"] or r["output"] or "",
            )
            for r in runs
        ]
        _print_table(heads, rows)


def add(home_option: Path | None, new: ScheduleTask, *, as_json: bool) -> None:
    """Schedule a prompt and say when it runs."""
    task = _at_desk(open_home_to_ask(home_option), lambda desk: desk.add(new))
    if as_json:
        _print_json(task)
    else:
        print(f"Task {task['id']} runs at {instant(task['nextRun'])}.")


def take(home_option: Path | None, step: Step, *, as_json: bool) -> None:
    """Pause, resume, cancel or run a task and say how it stands."""
    answer = _at_desk(open_home_to_ask(home_option), lambda desk: desk.take(step))
    if as_json:
        _print_json(answer)
    elif isinstance(step, RunTask):
        print(f"Task {answer['taskId']} runs as {answer['runId']}.")
    else:
        print(f"Task {answer['id']} is {answer['status']}.{_what_follows(answer)}")


def _what_follows(task: Object) -> str:
    if "stoppedRun" in task:
        return " Its run was stopped."
    if "runUnderWay" in task:
        return " A run under way goes on; to end that too: dovecote task cancel, or /stop in its chat."
    return f" Next run: {instant(task['nextRun'])}." if task["status"] == "active" else ""


def new_task(
    folder: str, prompt: str, *, cron: str | None, every: str | None, at: str | None, **fields: Any
) -> ScheduleTask:
    """The request for a new task. Exactly one of cron, every and at is given. Raises InvalidRequest."""
    given = [
        (kind, value)
        for kind, value in (("cron", cron), ("interval", every), ("once", at))
        if value is not None
    ]
    if len(given) != 1:
        raise InvalidRequest(
            f"{len(given)} schedules are given, but a task has one.",
            suggestion="Give one of --cron '0 9 * * 1-5', --every 2h and --at 2027-01-05T14:00.",
        )
    kind, value = given[0]
    return ScheduleTask(
        group_folder=GroupFolder(folder),
        prompt=prompt,
        schedule_type=kind,
        schedule_value=_milliseconds(value) if kind == "interval" else value,
        **fields,
    )


def _milliseconds(span: str) -> str:
    match = _SPAN.fullmatch(span.strip())
    if match is None:
        raise InvalidRequest(
            f"{clean_text(span)[:40]!r} is not a span of time.",
            suggestion="Give a whole number and s, m, h or d, such as 90m.",
        )
    return str(int(match[1]) * _UNIT_MS[match[2]])


def _at_desk(home: Home, work: Callable[[TaskDesk], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_place(home) as place:
            match place:
                case ApiClient():
                    return await work(HttpTasks(place))
                case Services():
                    return await work(StoreTasks(place, home))
                case None:
                    return await work(NoTasks(home))

    return asyncio.run(run())


def _path(task_id: str) -> str:
    return f"/api/v1/tasks/{quote(task_id, safe='')}"


def _schedule(task: Object) -> str:
    if task["scheduleType"] == "interval":
        return f"every {int(task['scheduleValue']) / 1000:g} s"
    return str(task["scheduleValue"])


def _print_json(plain: object) -> None:
    print(json.dumps(plain, indent=2))


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for line in columns(heads, rows):
        print(line)
