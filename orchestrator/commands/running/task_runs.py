"""The life of a task's run: a slot claimed, started, ended well or badly. Source: contracts.md section 7."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import InvalidSchedule
from orchestrator.contracts.ids import AgentId, GroupFolder, RunId, new_id
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.tasks import FailureClass, RunStatus, Task, TaskRun, TaskStatus
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStatus
from orchestrator.core.backoff import delay_s
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.task import TASK, TaskEvent
from orchestrator.core.states.task_run import TASK_RUN, RunEvent
from orchestrator.core.tasks.catch_up import DuePlan, due_runs
from orchestrator.core.tasks.schedule import known_zone, read_schedule
from orchestrator.store import groups, task_runs, tasks
from orchestrator.store.transaction import Transaction

FAILURES_TO_PAUSE: Final = 5
_TOLD: Final[Mapping[RunStatus, Say]] = {
    RunStatus.FAILED: Say.TASK_FAILED,
    RunStatus.TIMED_OUT: Say.TASK_FAILED,
    RunStatus.INTERRUPTED: Say.TASK_INTERRUPTED,
    RunStatus.MISSED: Say.TASK_MISSED,
}
_CLAIM_AT_ONCE: Final = 100
_MAX_OUTPUT_CHARS: Final = 2_000
_FIRST_WAIT_S: Final = 5.0
_MOST_WAIT_S: Final = 300.0


def claim_due(tx: Transaction, services: Services, *, at: datetime) -> bool:
    """Claim every slot that is due, with the next due time, in this transaction; whether more are due."""
    found = tasks.due(tx, now=at, count=_CLAIM_AT_ONCE)
    for task in found:
        _claim_task(tx, services, task, at=at)
    if found:
        tx.wake(Topic.WORK)
        tx.wake(Topic.SNAPSHOTS)
    return len(found) == _CLAIM_AT_ONCE


def _claim_task(tx: Transaction, services: Services, task: Task, *, at: datetime) -> None:
    if groups.by_folder(tx, task.group) is None:
        _pause_for_good_reason(tx, task, TaskEvent.GROUP_GONE, _why_gone(task.group), at=at)
        return
    try:
        schedule = read_schedule(task.kind, task.schedule_value, zone=known_zone(task.timezone))
    except InvalidSchedule as error:  # the tz database lost the zone, or an older version stored it
        _pause_for_good_reason(tx, task, TaskEvent.UNREADABLE, error.message, at=at)
        _tell(tx, services, task, Say.TASK_UNREADABLE, f"unreadable:{at.timestamp():.0f}", at=at)
        return
    plan = due_runs(task, schedule, now=at, grace=_grace(services))
    still_runs = task_runs.open_of_task(tx, task.task_id) is not None
    _keep_slots(tx, task, plan, still_runs=still_runs, at=at)
    if plan.missed:
        _tell(tx, services, task, Say.TASK_MISSED, f"missed:{plan.missed[-1].timestamp():.0f}", at=at)
    is_over = plan.next_run_at is None and not plan.runs and not still_runs
    status = TASK.after(task.status, TaskEvent.RAN_LAST) if is_over else task.status
    tasks.write(tx, replace(task, next_run_at=plan.next_run_at, status=status), was=task.status, at=at)


def _keep_slots(tx: Transaction, task: Task, plan: DuePlan, *, still_runs: bool, at: datetime) -> None:
    """Each planned time is in the history once: as a run to come, as missed or as passed over."""
    for slot in plan.missed:
        _record(tx, task, slot, RunEvent.TOO_LATE, why="due while nobody looked", at=at)
    for slot in plan.runs:
        if still_runs:
            _record(tx, task, slot, RunEvent.PASSED_OVER, why="the run before had not ended", at=at)
        else:
            task_runs.add(tx, _claimed(task, slot, at=at))


def pause_tasks_of_gone_group(tx: Transaction, folder: GroupFolder, *, at: datetime) -> None:
    """A group is not registered any more: its tasks rest, and no run of theirs begins."""
    for task in tasks.of_group(tx, folder):
        for run in task_runs.claimed_of_task(tx, task.task_id):
            pass_over(tx, run, why=_why_gone(folder), at=at)
        if task.status is TaskStatus.ACTIVE:
            _pause_for_good_reason(tx, task, TaskEvent.GROUP_GONE, _why_gone(folder), at=at)


def drop_runs(
    tx: Transaction, services: Services, task: Task, *, spare: AgentId | None, at: datetime
) -> TaskRun | None:
    """Nobody wants this task any more: no run of it begins, and the one under way is over; that one.

    Its agent is told to stop by the router, which asks `stopped_runs`. spare: the agent that asks may finish.
    """
    for waits in task_runs.claimed_of_task(tx, task.task_id):
        pass_over(tx, waits, why=f"the task is {task.status}", at=at)
    run = task_runs.started_of_task(tx, task.task_id)
    if run is None or run.agent_id == spare:
        return None
    status = TASK_RUN.after(run.status, RunEvent.STOPPED)
    stopped = replace(run, status=status, ended_at=at, failure=None, error=f"the task was {task.status}")
    task_runs.write(tx, stopped, was=run.status)
    _note_end(tx, services, stopped, at=at)
    tx.wake(Topic.WORK)
    return stopped


def stopped_runs(tx: Transaction, runs: Collection[RunId]) -> list[RunId]:
    """Those that are not wanted any more."""
    found = (task_runs.get(tx, run_id) for run_id in runs)
    return [run.run_id for run in found if run is not None and run.status is RunStatus.STOPPED]


def pass_over(tx: Transaction, run: TaskRun, *, why: str, at: datetime) -> None:
    """A claimed run will not begin, and nobody needs to hear of it; the history says why."""
    status = TASK_RUN.after(run.status, RunEvent.PASSED_OVER)
    task_runs.write(tx, replace(run, status=status, ended_at=at, error=why), was=run.status)


def _pause_for_good_reason(tx: Transaction, task: Task, event: TaskEvent, why: str, *, at: datetime) -> None:
    paused = replace(task, status=TASK.after(task.status, event), paused_why=why)
    tasks.write(tx, paused, was=task.status, at=at)
    tx.wake(Topic.SNAPSHOTS)


def _why_gone(folder: GroupFolder) -> str:
    return f"group {folder!r} is not registered any more"


def _grace(services: Services) -> timedelta:
    return timedelta(seconds=services.settings.tasks.misfire_grace_s)


def _claimed(task: Task, slot: datetime, *, at: datetime) -> TaskRun:
    return TaskRun(
        run_id=RunId(new_id("run")),
        task_id=task.task_id,
        planned_at=slot,
        status=TASK_RUN.start,
        claimed_at=at,
        due_at=at,
    )


def _record(tx: Transaction, task: Task, slot: datetime, event: RunEvent, *, why: str, at: datetime) -> None:
    """A slot that will not run is kept in the history all the same."""
    status = TASK_RUN.after(TASK_RUN.start, event)
    task_runs.add(tx, replace(_claimed(task, slot, at=at), status=status, ended_at=at, error=why))


def start_run(
    tx: Transaction, services: Services, run_id: RunId, agent_id: AgentId, *, at: datetime
) -> tuple[Task, TaskRun] | None:
    """The run and its task, now the agent's; None if it may not start any more.

    Its task is read again here: of one that was cancelled meanwhile it does not begin, nor of one that
    rests. One that had to wait longer than the grace comes too late.
    """
    run = task_runs.get(tx, run_id)
    task = None if run is None else tasks.get(tx, run.task_id)
    if run is None or task is None or run.status is not RunStatus.CLAIMED:
        return None
    by_hand = run.planned_at is None
    if task.status is TaskStatus.CANCELLED or (task.status is TaskStatus.PAUSED and not by_hand):
        pass_over(tx, run, why=f"the task is {task.status}", at=at)
        return None
    if at - (run.planned_at or run.claimed_at) > _grace(services):
        _give_up_waiting(tx, services, run, at=at)
        return None
    begun = replace(
        run, status=TASK_RUN.after(run.status, RunEvent.STARTED), agent_id=agent_id, started_at=at
    )
    task_runs.write(tx, begun, was=run.status)
    return task, begun


def _give_up_waiting(tx: Transaction, services: Services, run: TaskRun, *, at: datetime) -> None:
    """What never began was missed; what died and could not begin again was interrupted."""
    event = RunEvent.BROKEN_OFF if run.deaths else RunEvent.TOO_LATE
    why = run.error or "it could not begin in time"
    late = replace(run, status=TASK_RUN.after(run.status, event), ended_at=at, error=why)
    task_runs.write(tx, late, was=run.status)
    _note_end(tx, services, late, at=at)


def note_output(tx: Transaction, agent_id: AgentId, text: str) -> bool:
    """Keep what the run says, up to a bound; whether its task wants it in the chat.

    What a run says that was stopped on wish is kept only.
    """
    run = task_runs.of_agent(tx, agent_id)
    if run is None:
        return True
    said = f"{run.output}\n{text}" if run.output else text
    task_runs.write(tx, replace(run, output=said[:_MAX_OUTPUT_CHARS]), was=run.status)
    task = tasks.get(tx, run.task_id)
    return run.status is not RunStatus.STOPPED and (task is None or task.notify)


def end_run_well(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """The agent did what the run asked."""
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    ended = replace(
        run,
        status=TASK_RUN.after(run.status, RunEvent.SUCCEEDED),
        ended_at=at,
        failure=None,
        error=None,
    )
    task_runs.write(tx, ended, was=run.status)
    _note_end(tx, services, ended, at=at)


def hold_run(tx: Transaction, agent: Agent, *, why: str, at: datetime) -> None:
    """The provider is full or no agent could start: the run waits, it does not fail."""
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    wait_s = delay_s(run.tries + 1, first_s=_FIRST_WAIT_S, most_s=_MOST_WAIT_S)
    held = replace(
        run,
        status=TASK_RUN.after(run.status, RunEvent.GIVEN_BACK),
        due_at=at + timedelta(seconds=wait_s),
        agent_id=None,
        tries=run.tries + 1,
        failure=FailureClass.PROVIDER,
        error=why[:_MAX_OUTPUT_CHARS],
    )
    task_runs.write(tx, held, was=run.status)


def end_run_badly(
    tx: Transaction,
    services: Services,
    agent: Agent,
    *,
    event: RunEvent,
    why: str,
    at: datetime,
    failure: FailureClass | None = FailureClass.AGENT,
) -> None:
    """The run failed, ran out of time, was broken off with effects or stopped on wish.

    The fifth failure in a row pauses the task.
    """
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    failed = replace(
        run,
        status=TASK_RUN.after(run.status, event),
        ended_at=at,
        failure=failure,
        error=why[:_MAX_OUTPUT_CHARS],
    )
    task_runs.write(tx, failed, was=run.status)
    _note_end(tx, services, failed, at=at)


def end_run_with_turn(
    tx: Transaction, services: Services, agent: Agent, event: TurnEnded, *, waits: bool, at: datetime
) -> None:
    """What the end of its one turn means for a task's run. Of one that was cancelled its burial tells why.

    waits: it failed for a reason that is not its own.
    """
    if event.status is TurnStatus.CANCELLED:
        return
    why = event.error.message or event.error.code if event.error is not None else event.status.value
    if waits:
        hold_run(tx, agent, why=why, at=at)
    elif event.status is TurnStatus.SUCCESS:
        end_run_well(tx, services, agent, at=at)
    else:
        end_run_badly(tx, services, agent, event=RunEvent.FAILED, why=why, at=at)


def settle_broken_run(
    tx: Transaction,
    services: Services,
    agent: Agent,
    *,
    has_effects: bool,
    is_host: bool,
    why: str,
    at: datetime,
) -> None:
    """The agent of a run died. Without effect it runs once more within the grace, else it is interrupted.

    is_host: the orchestrator died, not the agent: that is no failure of the task's.
    """
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    failure = FailureClass.HOST if is_host else FailureClass.AGENT
    if not has_effects and not run.deaths and at - (run.planned_at or run.claimed_at) <= _grace(services):
        again = replace(
            run,
            status=TASK_RUN.after(run.status, RunEvent.GIVEN_BACK),
            due_at=at,
            agent_id=None,
            failure=failure,
            error=why,
            deaths=run.deaths + 1,
        )
        task_runs.write(tx, again, was=run.status)
        return
    event = RunEvent.BROKEN_OFF if is_host or has_effects else RunEvent.FAILED
    end_run_badly(tx, services, agent, event=event, why=why, at=at, failure=failure)


def _note_end(tx: Transaction, services: Services, run: TaskRun, *, at: datetime) -> None:
    """What the end of a run means for its task, and who is told."""
    task = tasks.get(tx, run.task_id)
    if task is None:
        return
    failures = _failures_after(task, run)
    status, paused_why = task.status, task.paused_why
    if failures >= FAILURES_TO_PAUSE and status is TaskStatus.ACTIVE:
        status = TASK.after(status, TaskEvent.FAILED_TOO_OFTEN)
        paused_why = f"{failures} runs failed in a row"
        _tell(tx, services, task, Say.TASK_PAUSED, f"paused:{run.run_id}", at=at)
    elif (what := _TOLD.get(run.status)) is not None:
        _tell(tx, services, task, what, f"{run.status}:{run.run_id}", at=at)
    if task.next_run_at is None and status in (TaskStatus.ACTIVE, TaskStatus.PAUSED):
        status = TASK.after(status, TaskEvent.RAN_LAST)
    changed = replace(
        task,
        status=status,
        failures=failures,
        paused_why=paused_why,
        last_run_at=run.started_at,
        last_status=run.status,
    )
    tasks.write(tx, changed, was=task.status, at=at)
    tx.wake(Topic.SNAPSHOTS)


def _failures_after(task: Task, run: TaskRun) -> int:
    """In a row: what was our doing, or people's, neither counts nor ends the row."""
    if run.status is RunStatus.SUCCEEDED:
        return 0
    is_ours = run.failure is FailureClass.HOST or run.status in (RunStatus.MISSED, RunStatus.STOPPED)
    return task.failures if is_ours else task.failures + 1


def _tell(tx: Transaction, services: Services, task: Task, what: Say, key: str, *, at: datetime) -> None:
    queue_notice(
        tx,
        services,
        chat=task.chat_jid,
        what=what,
        incident=f"task:{task.task_id}:{key}",
        at=at,
        title=task.title,
    )
