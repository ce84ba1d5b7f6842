"""How a whole installation stands at one moment, in numbers: what status, metrics and doctor look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class LastHeard:
    """The chats of one kind of one channel, and when the last message of any of them came."""

    channel: str
    is_group: bool
    chats: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Things of one kind that are not done. oldest_at, chat: when the oldest came, and in which chat."""

    count: int = 0
    oldest_at: datetime | None = None
    chat: Jid | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncident:
    """Something that people were told of and that is not over. name: its kind, a colon, what it is about."""

    name: str
    opened_at: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A task, in a line. due_at None: it has no next run. paused_why: None unless Dovecote paused it."""

    task_id: TaskId
    group: GroupFolder
    title: str
    due_at: datetime | None
    timezone: str
    failures: int = 0
    paused_why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Tasks: how many of each status, the next ones, those that are late, those that failed too often.

    late: how many are overdue, of which only the first are told one by one.
    """

    by_status: Mapping[str, int] = field(default_factory=dict)
    next_tasks: tuple[TaskLine, ...] = ()
    late: int = 0
    overdue: tuple[TaskLine, ...] = ()
    paused_by_failure: tuple[TaskLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingTexts:
    """Texts on their way out. failed: of the last day, with the error of the newest."""

    by_status: Mapping[str, int] = field(default_factory=dict)
    waiting: Backlog = field(default_factory=Backlog)
    unknown: Backlog = field(default_factory=Backlog)
    failed: Backlog = field(default_factory=Backlog)
    last_error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedToday:
    """What agents used since midnight of `assistant.timezone`. cost_usd None: no price is known."""

    calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All of it. left: groups in whose chat we are no more. waiting: messages that set the assistant off and
    that no agent has yet. at_work: those that one has. turns: those that are open. agents: live ones by
    status; oldest_start_at: since when the first of them is being started. bounds: those on how often the
    assistant is set off that were met and are silent. alerts: what `alerts.command` was not told yet.
    refused_spawns: of the last day, by code. newest_at: when the newest message came. ever: the highest
    numbers given to messages, texts and events since the store was made."""

    at: datetime
    groups: tuple[Group, ...] = ()
    left: tuple[GroupFolder, ...] = ()
    heard: tuple[LastHeard, ...] = ()
    waiting: Backlog = field(default_factory=Backlog)
    at_work: Backlog = field(default_factory=Backlog)
    turns: Backlog = field(default_factory=Backlog)
    agents: Mapping[str, int] = field(default_factory=dict)
    oldest_start_at: datetime | None = None
    outgoing: OutgoingTexts = field(default_factory=OutgoingTexts)
    schedule: Schedule = field(default_factory=Schedule)
    incidents: tuple[OpenIncident, ...] = ()
    bounds: tuple[OpenIncident, ...] = ()
    alerts: Backlog = field(default_factory=Backlog)
    proposals: int = 0
    questions: int = 0
    used_today: UsedToday = field(default_factory=UsedToday)
    refused_spawns: Mapping[str, int] = field(default_factory=dict)
    newest_at: datetime | None = None
    ever: Mapping[str, int] = field(default_factory=dict)
