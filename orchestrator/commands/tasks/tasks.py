"""What an agent or the operator may do with scheduled prompts. Source: contracts.md sections 4 and 7."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

from orchestrator.commands.command import Command, Context
from orchestrator.commands.running.task_runs import drop_runs, pass_over
from orchestrator.commands.services import Services
from orchestrator.commands.tasks.task_views import sees_all_groups, task_view
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import (
    ErrorCode,
    InvalidRequest,
    LimitExceeded,
    NotFound,
)
from orchestrator.contracts.faults import refuse_any
from orchestrator.contracts.ids import GroupFolder, RunId, TaskId, is_file_name, new_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.rights import least
from orchestrator.contracts.records.tasks import (
    CatchUp,
    ContextMode,
    ScheduleKind,
    Task,
    TaskRun,
    TaskStatus,
)
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
    UpdateTask,
)
from orchestrator.core.authority import Target, no_such_task
from orchestrator.core.states.task import TASK, TaskEvent
from orchestrator.core.states.task_run import TASK_RUN
from orchestrator.core.tasks.schedule import first_run, known_zone, next_run, parse_schedule, read_schedule
from orchestrator.core.text_cleaning import clean_name, clean_text
from orchestrator.store import groups, task_runs, tasks
from orchestrator.store.transaction import Transaction

T = TypeVar("T")

MAX_PROMPT_CHARS: Final = 32_000
NamedTask = UpdateTask | PauseTask | ResumeTask | CancelTask | RunTask


def schedule_task(tx: Transaction, context: Context, request: ScheduleTask) -> Mapping[str, object]:
    """Store a new task of a group. Raises InvalidRequest, InvalidSchedule, LimitExceeded."""
    group = _group_of(tx, context, request)
    most = context.services.settings.tasks.max_per_group
    if tasks.count_active(tx, group.folder) >= most:
        raise LimitExceeded(
            f"Group {group.folder!r} has {most} active tasks, which is the most (tasks.max_per_group).",
            suggestion="Cancel one that is no longer needed.",
        )
    if request.task_id is not None and tasks.named(tx, group.folder, _alias(request.task_id)) is not None:
        raise InvalidRequest(
            f"Group {group.folder!r} has a task {request.task_id!r} already.",
            suggestion="Change that one with update_task, or leave taskId out.",
        )
    task = _new_task(context, group, request)
    tasks.add(tx, task)
    _woken(tx)
    return task_view(task, reader=context.caller)


def update_task(tx: Transaction, context: Context, request: UpdateTask) -> Mapping[str, object]:
    """Change what is given of a task; a changed schedule or zone gives a new next run.

    It gets the caller's rights where none of its words is left from before, else the lesser.
    """
    task = _own_task(tx, context, request)
    _check_not_over(task)
    prompt = task.prompt if request.prompt is None else _prompt(request.prompt)
    title = _changed_title(task, request, prompt)
    is_all_new = request.prompt is not None and (request.title is not None or title != task.title)
    zone = known_zone(request.timezone or task.timezone)
    kind = _word(ScheduleKind, request.schedule_type, "scheduleType") or task.kind
    value = request.schedule_value if request.schedule_value is not None else task.schedule_value
    changed = replace(
        task,
        title=title,
        prompt=prompt,
        kind=kind,
        schedule_value=value,
        timezone=zone.key,
        context_mode=_word(ContextMode, request.context_mode, "contextMode") or task.context_mode,
        catch_up=_word(CatchUp, request.catch_up, "catchUp") or task.catch_up,
        notify=task.notify if request.notify is None else request.notify,
        rights=context.rights if is_all_new else least(task.rights, context.rights),
    )
    if (kind, value, zone.key) != (task.kind, task.schedule_value, task.timezone):
        schedule = parse_schedule(
            kind, value, zone=zone, now=context.at, min_interval_ms=_min_interval_ms(context.services)
        )
        changed = replace(changed, next_run_at=first_run(schedule, now=context.at), failures=0)
    _write(tx, changed, was=task.status, at=context.at)
    return task_view(changed, reader=context.caller)


def pause_task(tx: Transaction, context: Context, request: PauseTask) -> Mapping[str, object]:
    """Let a task rest: no run begins; one under way goes on. One that rests already stays as it is."""
    task = _own_task(tx, context, request)
    if task.status is TaskStatus.ACTIVE:
        paused = replace(task, status=TASK.after(task.status, TaskEvent.PAUSED))
        task = _write(tx, paused, was=task.status, at=context.at)
    run = task_runs.started_of_task(tx, task.task_id)
    return (
        task_view(task, reader=context.caller)
        if run is None
        else {**task_view(task, reader=context.caller), "runUnderWay": run.run_id}
    )


def resume_task(tx: Transaction, context: Context, request: ResumeTask) -> Mapping[str, object]:
    """Let a task run again from its next time on: what was due while it rested is not made up for."""
    task = _own_task(tx, context, request)
    if task.status is TaskStatus.PAUSED:
        _check_group(tx, task)
        schedule = read_schedule(task.kind, task.schedule_value, zone=known_zone(task.timezone))
        planned = task.next_run_at
        is_still_to_come = planned is not None and planned > context.at
        following = planned if is_still_to_come else next_run(schedule, after=context.at, anchor=planned)
        if following is None:
            raise InvalidRequest(
                f"Task {task.task_id!r} has no time left to run at.",
                suggestion="Give it a new time with update_task, or cancel it.",
            )
        resumed = replace(
            task,
            status=TASK.after(task.status, TaskEvent.RESUMED),
            next_run_at=following,
            failures=0,
            paused_why=None,
        )
        task = _write(tx, resumed, was=task.status, at=context.at)
    return task_view(task, reader=context.caller)


def _check_group(tx: Transaction, task: Task) -> None:
    if groups.by_folder(tx, task.group) is None:
        again = f"dovecote group add {task.group} --jid {task.chat_jid} --adopt"
        raise InvalidRequest(
            f"The group {task.group!r} of task {task.task_id!r} is not registered any more.",
            suggestion=f"Register it again first: {again}",
        )


def cancel_task(tx: Transaction, context: Context, request: CancelTask) -> Mapping[str, object]:
    """End a task for good and stop its run; its history is kept. A run that cancels its own task goes on."""
    task = _own_task(tx, context, request)
    if task.status in (TaskStatus.ACTIVE, TaskStatus.PAUSED):
        ended = replace(task, status=TASK.after(task.status, TaskEvent.CANCELLED), next_run_at=None)
        task = _write(tx, ended, was=task.status, at=context.at)
    caller = context.caller
    spare = caller.agent_id if isinstance(caller, AgentCaller) else None
    stopped = drop_runs(tx, context.services, task, spare=spare, at=context.at)
    if stopped is None:
        return task_view(task, reader=context.caller)
    return {
        **task_view(tasks.get(tx, task.task_id) or task, reader=context.caller),
        "stoppedRun": stopped.run_id,
    }


def run_task(tx: Transaction, context: Context, request: RunTask) -> Mapping[str, object]:
    """Run a task now, once; its schedule does not move."""
    task = _own_task(tx, context, request)
    _check_not_over(task)
    if task.status is TaskStatus.PAUSED:
        for waits in task_runs.claimed_of_task(tx, task.task_id):
            if waits.planned_at is not None:
                pass_over(tx, waits, why="the task is paused", at=context.at)
    if (running := task_runs.open_of_task(tx, task.task_id)) is not None:
        return {"runId": running.run_id, "taskId": task.task_id, "status": running.status.value}
    run = TaskRun(
        run_id=RunId(new_id("run")),
        task_id=task.task_id,
        planned_at=None,
        status=TASK_RUN.start,
        claimed_at=context.at,
        due_at=context.at,
    )
    task_runs.add(tx, run)
    tx.wake(Topic.WORK)
    return {"runId": run.run_id, "taskId": task.task_id, "status": run.status.value}


def list_tasks(tx: Transaction, context: Context, request: ListTasks) -> Mapping[str, object]:
    """The tasks that the caller may see, active and paused ones."""
    caller = context.caller
    if request.group_folder is not None:
        found = tasks.of_group(tx, request.group_folder)
    elif sees_all_groups(caller, context.rights):
        found = tasks.everywhere(tx)
    else:
        assert isinstance(caller, AgentCaller)
        found = tasks.of_group(tx, caller.group)
    return {"tasks": [task_view(task, reader=caller) for task in found]}


def _new_task(context: Context, group: Group, request: ScheduleTask) -> Task:
    """The task that was asked for. Raises InvalidRequest that names all that is wrong."""
    wrong: list[InvalidRequest] = []
    usual, named = context.services.settings.assistant.timezone, request.task_id
    zone = _tried(wrong, lambda: known_zone(request.timezone or group.timezone or usual)) or ZoneInfo("UTC")
    kind = _tried(wrong, lambda: _word(ScheduleKind, request.schedule_type, "scheduleType"))
    least_ms = _min_interval_ms(context.services)
    parse = partial(parse_schedule, zone=zone, now=context.at, min_interval_ms=least_ms)
    schedule = None if kind is None else _tried(wrong, lambda: parse(kind, request.schedule_value))
    prompt = _tried(wrong, lambda: _prompt(request.prompt)) or ""
    mode = _tried(wrong, lambda: _word(ContextMode, request.context_mode, "contextMode"))
    catch_up = _tried(wrong, lambda: _word(CatchUp, request.catch_up, "catchUp"))
    alias = None if named is None else _tried(wrong, lambda: _alias(named))
    refuse_any(wrong)
    assert kind is not None
    assert schedule is not None
    return Task(
        task_id=TaskId(new_id("task")),
        group=group.folder,
        chat_jid=group.jid,
        title=_title(request.title, prompt),
        prompt=prompt,
        kind=kind,
        schedule_value=request.schedule_value,
        timezone=zone.key,
        context_mode=mode or ContextMode.GROUP,
        catch_up=catch_up or CatchUp.LATEST,
        notify=request.notify,
        status=TASK.start,
        rights=context.rights,
        created_at=context.at,
        next_run_at=first_run(schedule, now=context.at),
        alias=alias,
    )


def _tried(wrong: list[InvalidRequest], work: Callable[[], T]) -> T | None:
    """What `work` returns; None where it is refused, which is noted."""
    try:
        return work()
    except InvalidRequest as error:
        wrong.append(error)
        return None


def _own_task(tx: Transaction, context: Context, request: NamedTask) -> Task:
    """The task. By an alias it can be named in its own group only: groupFolder, or else the caller's."""
    caller = context.caller
    own = caller.group if isinstance(caller, AgentCaller) else None
    task = tasks.named(tx, request.group_folder or own or GroupFolder(""), request.task_id)
    if task is None:
        raise no_such_task(request.task_id)
    return task


def _check_not_over(task: Task) -> None:
    if task.status not in (TaskStatus.ACTIVE, TaskStatus.PAUSED):
        raise InvalidRequest(
            f"Task {task.task_id!r} is {task.status}.", suggestion="Schedule it anew with schedule_task."
        )


def _group_of(tx: Transaction, context: Context, request: ScheduleTask) -> Group:
    """The group that a new task is for: named by its folder, by its chat, or else the caller's own."""
    caller = context.caller
    group = _named_group(tx, request)
    if isinstance(caller, AgentCaller) and request.group_folder is None and request.chat_jid is None:
        group = groups.by_folder(tx, caller.group)
    if group is None:
        raise NotFound(
            f"There is no group {request.group_folder or request.chat_jid!r}.",
            code=ErrorCode.NOT_REGISTERED,
            suggestion="Name the folder of a registered group.",
        )
    if request.chat_jid not in (None, group.jid):
        raise InvalidRequest(
            f"chatJid {request.chat_jid!r} is not the chat of group {group.folder!r}.",
            suggestion="Leave chatJid out: a task speaks in its own group's chat.",
        )
    return group


def _named_group(tx: Transaction, request: ScheduleTask) -> Group | None:
    if request.group_folder is not None:
        return groups.by_folder(tx, request.group_folder)
    return None if request.chat_jid is None else groups.by_jid(tx, request.chat_jid)


def _min_interval_ms(services: Services) -> int:
    return int(services.settings.tasks.min_interval_s * 1000)


def _write(tx: Transaction, task: Task, *, was: TaskStatus, at: datetime) -> Task:
    tasks.write(tx, task, was=was, at=at)
    _woken(tx)
    return task


def _woken(tx: Transaction) -> None:
    tx.wake(Topic.ALARM)
    tx.wake(Topic.SNAPSHOTS)


def _alias(name: str) -> str:
    if not is_file_name(name):
        raise InvalidRequest(
            f"taskId {name!r} is not a name.", suggestion="Use up to 128 letters, digits, dots, _ and -."
        )
    return name


def _prompt(text: str) -> str:
    prompt = clean_text(text).strip()
    if not prompt or len(prompt) > MAX_PROMPT_CHARS:
        raise InvalidRequest(
            f"The prompt has {len(prompt)} characters.",
            suggestion=f"Say in 1 to {MAX_PROMPT_CHARS} characters what is to be done.",
        )
    return prompt


def _changed_title(task: Task, request: UpdateTask, prompt: str) -> str:
    """A title that only was the beginning of the prompt goes with it."""
    if request.title is None and task.title != _title(None, task.prompt):
        return task.title
    return _title(request.title, prompt)


def _title(title: str | None, prompt: str) -> str:
    return clean_name(title or prompt)[:80]


def _word(kind: Any, value: str | None, field: str) -> Any:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(member.value for member in kind)
        raise InvalidRequest(
            f"{field} {value!r} is not known.", suggestion=f"Use one of: {allowed}."
        ) from None


def _new_target(tx: Transaction, request: ScheduleTask) -> Target:
    group = _named_group(tx, request)
    folder = request.group_folder if group is None else group.folder
    return Target(chat_jid=request.chat_jid, group=folder, is_registered=group is not None)


def _list_target(tx: Transaction, request: ListTasks) -> Target:
    return Target(chat_jid=None, group=request.group_folder, is_registered=True)


def _task_target(tx: Transaction, request: NamedTask) -> Target:
    """The group of the task that is named by its id; by an alias it can only be the caller's own."""
    task = tasks.get(tx, request.task_id)
    return Target(
        chat_jid=None,
        group=task.group if task else request.group_folder,
        is_registered=True,
        task_id=request.task_id,
        asked_group=request.group_folder,
    )


COMMANDS: Final = (
    Command(request=ScheduleTask, name="schedule_task", target=_new_target, run=schedule_task),
    Command(request=ListTasks, name="list_tasks", target=_list_target, run=list_tasks),
    Command(request=UpdateTask, name="update_task", target=_task_target, run=update_task),
    Command(request=PauseTask, name="pause_task", target=_task_target, run=pause_task),
    Command(request=ResumeTask, name="resume_task", target=_task_target, run=resume_task),
    Command(request=CancelTask, name="cancel_task", target=_task_target, run=cancel_task),
    Command(request=RunTask, name="run_task", target=_task_target, run=run_task),
)
"""The requests of this area."""
