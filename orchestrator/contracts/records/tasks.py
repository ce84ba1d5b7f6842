"""Scheduled prompts and their runs. Source: contracts.md section 7."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, RunId, TaskId
from orchestrator.contracts.records.rights import Rights


class ScheduleKind(StrEnum):
    """How a schedule is given. cron: five fields or @daily and its kind. interval: milliseconds.
    once: an ISO 8601 instant."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"


class ContextMode(StrEnum):
    """Whose conversation a task's run sees: the group's own, or none."""

    GROUP = "group"
    ISOLATED = "isolated"


class CatchUp(StrEnum):
    """What happens to runs that were missed: the latest, none, or all (up to ten)."""

    LATEST = "latest"
    SKIP = "skip"
    ALL = "all"


class TaskStatus(StrEnum):
    """The life of a task."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    """The life of one run of a task."""

    CLAIMED = "claimed"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    MISSED = "missed"
    SKIPPED = "skipped"


class FailureClass(StrEnum):
    """Whose failure it was: what the task did, its provider's, or ours."""

    AGENT = "agent"
    PROVIDER = "provider"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A scheduled prompt of a group. schedule_value as it was given; next_run_at None: no more runs.

    alias: the id that an agent of NanoClaw 1.x gave it. failures: in a row. rights: of the turn that
    made or last changed it. notify: whether its texts go to the chat.
    """

    task_id: TaskId
    group: GroupFolder
    chat_jid: Jid
    title: str
    prompt: str
    kind: ScheduleKind
    schedule_value: str
    timezone: str
    context_mode: ContextMode
    catch_up: CatchUp
    notify: bool
    status: TaskStatus
    rights: Rights
    created_at: datetime
    next_run_at: datetime | None = None
    last_run_at: datetime | None = None
    last_status: RunStatus | None = None
    failures: int = 0
    alias: str | None = None
    paused_why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """One execution. planned_at: the slot it is for; a run asked for by hand has none.

    tries: how often it was given back to wait. deaths: how often its agent died without an effect.
    """

    run_id: RunId
    task_id: TaskId
    planned_at: datetime | None
    status: RunStatus
    claimed_at: datetime
    due_at: datetime
    agent_id: AgentId | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    failure: FailureClass | None = None
    error: str | None = None
    output: str | None = None
    tries: int = 0
    deaths: int = 0
