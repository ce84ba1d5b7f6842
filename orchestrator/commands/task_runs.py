"""The life of a task's run: a slot claimed, started, ended well or badly. Source: contracts.md section 7."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, RunId, new_id
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.tasks import FailureClass, RunStatus, Task, TaskRun, TaskStatus
from orchestrator.contracts.seams import Topic
from orchestrator.core.backoff import delay_s
from orchestrator.core.states.task import TASK, TaskEvent
from orchestrator.core.states.task_run import TASK_RUN, RunEvent
from orchestrator.core.tasks.catch_up import due_runs
from orchestrator.core.tasks.schedule import known_zone, read_schedule
from orchestrator.core.wording import Say
from orchestrator.store import groups, task_runs, tasks
from orchestrator.store.database import Transaction

FAILURES_TO_PAUSE: Final = 5
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
        tx.wake(Topic.MESSAGES)
        tx.wake(Topic.SNAPSHOTS)
    return len(found) == _CLAIM_AT_ONCE


def _claim_task(tx: Transaction, services: Services, task: Task, *, at: datetime) -> None:
    if groups.by_folder(tx, task.group) is None:
        gone = replace(
            task,
            status=TASK.after(task.status, TaskEvent.GROUP_GONE),
            paused_why=f"group {task.group!r} is not registered any more",
        )
        tasks.write(tx, gone, was=task.status)
        return
    grace = timedelta(seconds=services.settings.tasks.misfire_grace_s)
    schedule = read_schedule(task.kind, task.schedule_value, zone=known_zone(task.timezone))
    plan = due_runs(task, schedule, now=at, grace=grace)
    still_runs = task_runs.open_of_task(tx, task.task_id) is not None
    for slot in plan.missed:
        _record(tx, task, slot, RunEvent.TOO_LATE, at=at)
    for slot in plan.runs:
        if still_runs:
            _record(tx, task, slot, RunEvent.PASSED_OVER, at=at)
        else:
            task_runs.add(tx, _claimed(task, slot, at=at))
    if plan.missed:
        _tell(tx, services, task, Say.TASK_MISSED, f"missed:{plan.missed[-1].timestamp():.0f}", at=at)
    is_over = plan.next_run_at is None and not plan.runs
    status = TASK.after(task.status, TaskEvent.RAN_LAST) if is_over else task.status
    tasks.write(tx, replace(task, next_run_at=plan.next_run_at, status=status), was=task.status)


def _claimed(task: Task, slot: datetime, *, at: datetime) -> TaskRun:
    return TaskRun(
        run_id=RunId(new_id("run")),
        task_id=task.task_id,
        planned_at=slot,
        status=TASK_RUN.start,
        claimed_at=at,
        due_at=at,
    )


def _record(tx: Transaction, task: Task, slot: datetime, event: RunEvent, *, at: datetime) -> None:
    """A slot that will not run is kept in the history all the same."""
    run = replace(_claimed(task, slot, at=at), status=TASK_RUN.after(TASK_RUN.start, event), ended_at=at)
    task_runs.add(tx, run)


def start_run(
    tx: Transaction, run_id: RunId, agent_id: AgentId, *, at: datetime
) -> tuple[Task, TaskRun] | None:
    """The run and its task, now the agent's; None if it may not start any more.

    The status of the task is read again here: one that was cancelled meanwhile does not run.
    """
    run = task_runs.get(tx, run_id)
    task = None if run is None else tasks.get(tx, run.task_id)
    if run is None or task is None or run.status is not RunStatus.CLAIMED:
        return None
    by_hand = run.planned_at is None
    if task.status is TaskStatus.CANCELLED or (task.status is TaskStatus.PAUSED and not by_hand):
        event = RunEvent.PASSED_OVER
        task_runs.write(
            tx, replace(run, status=TASK_RUN.after(run.status, event), ended_at=at), was=run.status
        )
        return None
    begun = replace(
        run, status=TASK_RUN.after(run.status, RunEvent.STARTED), agent_id=agent_id, started_at=at
    )
    task_runs.write(tx, begun, was=run.status)
    return task, begun


def note_output(tx: Transaction, agent_id: AgentId, text: str) -> bool:
    """Keep what the run says, up to a bound; whether its task wants it in the chat."""
    run = task_runs.of_agent(tx, agent_id)
    if run is None:
        return True
    said = f"{run.output}\n{text}" if run.output else text
    task_runs.write(tx, replace(run, output=said[:_MAX_OUTPUT_CHARS]), was=run.status)
    task = tasks.get(tx, run.task_id)
    return task is None or task.notify


def end_run_well(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """The agent did what the run asked."""
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    ended = replace(
        run,
        status=TASK_RUN.after(run.status, RunEvent.SUCCEEDED),
        ended_at=at,
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
    tx: Transaction, services: Services, agent: Agent, *, event: RunEvent, why: str, at: datetime
) -> None:
    """The run failed, ran out of time or was broken off with effects; the fifth in a row pauses the task."""
    run = task_runs.of_agent(tx, agent.agent_id)
    if run is None or run.status is not RunStatus.STARTED:
        return
    failed = replace(
        run,
        status=TASK_RUN.after(run.status, event),
        ended_at=at,
        failure=FailureClass.HOST if event is RunEvent.BROKEN_OFF else FailureClass.AGENT,
        error=why[:_MAX_OUTPUT_CHARS],
    )
    task_runs.write(tx, failed, was=run.status)
    _note_end(tx, services, failed, at=at)


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
    planned = run.planned_at or run.claimed_at
    grace = timedelta(seconds=services.settings.tasks.misfire_grace_s)
    if not has_effects and run.tries == 0 and at - planned <= grace:
        again = replace(
            run, status=TASK_RUN.after(run.status, RunEvent.GIVEN_BACK), agent_id=None, tries=1, due_at=at
        )
        task_runs.write(tx, again, was=run.status)
        return
    event = RunEvent.BROKEN_OFF if is_host or has_effects else RunEvent.FAILED
    end_run_badly(tx, services, agent, event=event, why=why, at=at)


def _note_end(tx: Transaction, services: Services, run: TaskRun, *, at: datetime) -> None:
    """What the end of a run means for its task, and who is told."""
    task = tasks.get(tx, run.task_id)
    if task is None:
        return
    is_good = run.status is RunStatus.SUCCEEDED
    failures = 0 if is_good else task.failures + 1
    status, paused_why = task.status, task.paused_why
    if failures >= FAILURES_TO_PAUSE and status is TaskStatus.ACTIVE:
        status = TASK.after(status, TaskEvent.FAILED_TOO_OFTEN)
        paused_why = f"{failures} runs failed in a row"
        _tell(tx, services, task, Say.TASK_PAUSED, f"paused:{run.run_id}", at=at)
    elif run.status is RunStatus.INTERRUPTED:
        _tell(tx, services, task, Say.TASK_INTERRUPTED, f"interrupted:{run.run_id}", at=at)
    elif not is_good:
        _tell(tx, services, task, Say.TASK_FAILED, f"failed:{run.run_id}", at=at)
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
    tasks.write(tx, changed, was=task.status)
    tx.wake(Topic.SNAPSHOTS)


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
