"""Runs of a driver, and their turns."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RunId, TreeId, TurnId
from orchestrator.contracts.records.rights import Rights


class AgentStatus(StrEnum):
    """The lifecycle of an agent. Pending: reserved, with no process yet. Source: agents.md section 2."""

    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    TERMINATED = "terminated"
    LOST = "lost"


class QueueReason(StrEnum):
    """What keeps an agent that was asked for from its start.

    max running, max live: as many are at work, or live, as may. kept for chats: no helper gets what is left.
    tree share: its tree has its part while others wait. others first: what is left is for trees of which
    nobody works. group full: the files of its group. disk full: the disk. parent queued: who asked for it
    waits too. restart delay: it has ended and pauses.
    """

    MAX_RUNNING = "max_running"
    MAX_LIVE = "max_live"
    KEPT_FOR_CHATS = "kept_for_chats"
    TREE_SHARE = "tree_share"
    OTHERS_FIRST = "others_first"
    GROUP_FULL = "group_full"
    DISK_FULL = "disk_full"
    PARENT_QUEUED = "parent_queued"
    RESTART_DELAY = "restart_delay"


class AgentKind(StrEnum):
    """What an agent is for: one piece of work, or a conversation."""

    JOB = "job"
    SESSION = "session"


class EndReason(StrEnum):
    """Why the process of an agent is no more."""

    EXITED = "exited"
    CRASHED = "crashed"
    OOM = "oom"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    START_FAILED = "start_failed"
    ENGINE_LOST = "engine_lost"
    ORCHESTRATOR_DIED = "orchestrator_died"


class DeathCause(StrEnum):
    """On whose account an agent ended, which decides what becomes of its messages.

    agent: it went by itself. timed out: by its clocks. orchestrator: we died ourselves. host: we ended it for
    reasons that are not the message's, such as a shutdown, a box that is gone, an engine that went away.
    stopped: people, or the agent that had started it, wanted it so. violated: it did what none may, or took
    the room on the disk.
    """

    AGENT = "agent"
    TIMED_OUT = "timed out"
    ORCHESTRATOR = "orchestrator"
    HOST = "host"
    STOPPED = "stopped"
    VIOLATED = "violated"


class TurnOutcome(StrEnum):
    """How a turn ended: the agent's own word, or that its messages went into another, or that it died."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"
    JOINED = "joined"
    DIED = "died"


class StopReach(StrEnum):
    """What came of a wish to stop. SLOW: told to stop, and not yet gone within the usual time."""

    NOTHING_RAN = "nothing ran"
    STOPPED = "stopped"
    SLOW = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnPermissions:
    """What an agent may do beyond its own work. A child never has one that its parent lacks.

    chat: speak in the group's chat, and what has effects there. inherit_github_token: be handed the parent's.
    detach: start children that outlive it.
    """

    can_spawn: bool = True
    chat: bool = True
    inherit_github_token: bool = True
    detach: bool = True


ALL_PERMISSIONS: Final = SpawnPermissions()
"""Those of a root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One run of a driver in a container. process_ref: what its runner needs to find it again.

    provider: its name. rights: the least of all whose words it was given. task_run_id: the run it was
    started for. depth: 0 of a root. parent_agent_id: None of a root; children are derived, never stored.
    deadline_at: when it is timed out, if it is bounded as a whole. started_at: of a pending one, when it was
    reserved. pairs: how many were taken of its output. lines, error_lines: how many others were heard, on
    standard output and on standard error.
    """

    agent_id: AgentId
    tree_id: TreeId
    group: GroupFolder
    chat_jid: Jid
    box: BoxName
    runner: str
    provider: str
    status: AgentStatus
    is_main: bool
    kind: AgentKind = AgentKind.SESSION
    parent_agent_id: AgentId | None = None
    depth: int = 0
    deadline_at: datetime | None = None
    permissions: SpawnPermissions = ALL_PERMISSIONS
    rights: Rights = Rights.OPERATOR
    task_run_id: RunId | None = None
    is_legacy: bool = False
    process_ref: str | None = None
    pairs: int = 0
    lines: int = 0
    error_lines: int = 0
    started_at: datetime
    ended_at: datetime | None = None
    exit_code: int | None = None
    end_reason: EndReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a process ended. code: as a shell gives it, 128+n for signal n."""

    code: int
    is_oom: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether it ended by itself and well."""
        return self.code == 0 and not self.is_oom


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One prompt and all that came of it."""

    turn_id: TurnId
    agent_id: AgentId
    chat_jid: Jid
    started_at: datetime
    ended_at: datetime | None = None
    outcome: TurnOutcome | None = None
    outputs: int = 0
    effects: int = 0
