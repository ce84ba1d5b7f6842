"""Agents that agents start: what is asked for, what is kept of it, and what came of it.

Source: agents.md section 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus, QueueReason, SpawnPermissions


class WaitFor(StrEnum):
    """How long the caller is held: not at all, until the child has its input, until it has ended."""

    NONE = "none"
    READY = "ready"
    RESULT = "result"


class SpawnProfile(StrEnum):
    """By which rules a child is made. Safe: for callers that are trusted less."""

    STANDARD = "standard"
    SAFE = "safe"


class OnParentExit(StrEnum):
    """What becomes of a child whose parent ends: stopped, asked to finish, left to itself."""

    STOP = "stop"
    REQUEST_STOP = "request_stop"
    DETACH = "detach"


class RestartPolicy(StrEnum):
    """Whether a spawned agent that ended by itself is started again: not, if it failed, however it ended."""

    NEVER = "never"
    ON_FAILURE = "on_failure"
    ALWAYS = "always"


class StopReason(StrEnum):
    """Why an agent is stopped."""

    CASCADE = "cascade"
    MANUAL = "manual"
    TIMEOUT = "timeout"
    ORPHAN_CLEANUP = "orphan_cleanup"


class StoppedWith(StrEnum):
    """With whom an agent of a cascade went.

    parent: who had started it. orchestrator: we, in good order or for reasons of ours. orchestrator died: we
    died, and it was found so.
    """

    PARENT = "parent"
    ORCHESTRATOR = "orchestrator"
    ORCHESTRATOR_DIED = "orchestrator_died"


class TreeStatus(StrEnum):
    """Whether agents may still be started in a tree."""

    ACTIVE = "active"
    TERMINATED = "terminated"


class RootStatus(StrEnum):
    """Whether agents may be given a directory as their workspace."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"


class StopVerdict(StrEnum):
    """What came of the wish to stop one agent. Skipped: it had ended before."""

    TERMINATED = "terminated"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class WishedPermissions:
    """What a child is to be allowed; None: what is usual."""

    can_spawn: bool | None = None
    chat: bool | None = None
    inherit_github_token: bool | None = None
    detach: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnSpec:
    """What is to be started.

    workspace_path: as the caller sees it; None: the parent's. writable_paths: in that workspace, relative or
    as the child sees them. timeout_ms: None for the usual. name: for people. idempotency_key: the same key
    from the same caller is the same spawn.
    """

    task: str
    workspace_path: str | None = None
    writable_paths: tuple[str, ...] = ()
    timeout_ms: int | None = None
    wait: WaitFor = WaitFor.NONE
    profile: SpawnProfile = SpawnProfile.STANDARD
    on_parent_exit: OnParentExit = OnParentExit.STOP
    restart_policy: RestartPolicy = RestartPolicy.NEVER
    permissions: WishedPermissions = field(default_factory=WishedPermissions)
    name: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnResult:
    """What came of a spawned agent; of one that was restarted, of its last attempt.

    output: its texts. files_modified: relative to its workspace, removed ones too, of all its attempts;
    None if nobody looked.
    shared_with: other live agents that may write the same paths. exit_code: None at a timeout, when nobody
    saw it end, or when it was stopped in good order. error: one sentence.
    """

    output: str = ""
    files_modified: tuple[str, ...] | None = None
    shared_with: tuple[AgentId, ...] = ()
    exit_code: int | None = None
    error: str | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """How often a spawned agent was started again. policy: whether it is.

    count: ever. recent: when, of those that may count against the limit. start_after: it waits until then.
    earlier_files: what its earlier attempts changed; None if nobody looked.
    """

    policy: RestartPolicy = RestartPolicy.NEVER
    count: int = 0
    recent: tuple[datetime, ...] = ()
    start_after: datetime | None = None
    earlier_files: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnRecord:
    """A spawned agent, as it was resolved; its life is the agent's record.

    workspace: the directory of the host that it sees at `/workspace/group`, without links. writable_paths:
    relative to that, a directory with `/` at its end; empty and `is_own_workspace`: all of it is its own.
    deadline_at: when it is timed out. capped_by: `parent_deadline` or `absolute_max_timeout`, if one of these
    shortened its time. stop_reason: once it was told to stop. stopped_by: who asked for that: an
    agent's id, `operator`, or `key:` and the name of an API key; None if nobody did. answer: what its caller
    was told at once, as JSON. is_left: the attempt of its parent that started it is over, though its parent
    is not.
    """

    agent_id: AgentId
    parent_agent_id: AgentId | None
    caller_key: str
    task: str
    workspace: str
    writable_paths: tuple[str, ...]
    is_own_workspace: bool
    wait: WaitFor
    profile: SpawnProfile
    on_parent_exit: OnParentExit
    name: str | None
    idempotency_key: str | None
    body_sha256: str
    answer: str
    created_at: datetime
    deadline_at: datetime
    effective_timeout_ms: int
    capped_by: str | None
    stop_reason: StopReason | None = None
    stopped_by: str | None = None
    restarts: Restarts = field(default_factory=Restarts)
    is_left: bool = False
    result: SpawnResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnedAgent:
    """An agent's record with what it was spawned with."""

    agent: Agent
    spawn: SpawnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A root agent with all that came of it. total_agents: ever, the root too."""

    tree_id: TreeId
    root_agent_id: AgentId
    status: TreeStatus
    created_at: datetime
    ended_at: datetime | None = None
    total_agents: int = 1
    max_depth_reached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaInfo:
    """What may still be started below an agent."""

    tree_agents_remaining: int
    depth_remaining: int

    def as_json(self) -> dict[str, int]:
        """In the spelling of the source document."""
        return {
            "tree_agents_remaining": self.tree_agents_remaining,
            "depth_remaining": self.depth_remaining,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnSummary:
    """What is shown of a spawn. restarts: without those that count for the bound."""

    agent_id: AgentId
    task: str
    name: str | None
    workspace: str
    writable_paths: tuple[str, ...]
    stop_reason: StopReason | None
    stopped_by: str | None
    restarts: Restarts
    result: SpawnResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """An agent with what its spawn says of it; spawn: None of one that holds a chat or does a task."""

    agent_id: AgentId
    tree_id: TreeId
    kind: str
    status: AgentStatus
    task: str
    name: str | None
    workspace: str
    writable_paths: tuple[str, ...]
    group: str
    provider: str
    runner: str
    parent_agent_id: AgentId | None
    child_agent_ids: tuple[AgentId, ...]
    depth: int
    permissions: SpawnPermissions
    started_at: datetime
    deadline_at: datetime | None
    ended_at: datetime | None
    exit_code: int | None
    stop_reason: StopReason | None
    stopped_by: str | None
    result: SpawnResult | None
    waits_for: tuple[AgentId, ...] = ()
    queued_by: QueueReason | None = None
    restarts: Restarts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRoot:
    """A directory of the host, without links, that somebody wants agents to be given. proposed_by: who."""

    path: str
    status: RootStatus
    proposed_by: str
    proposed_at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOutcome:
    """What came of stopping one agent. error: why it could not be."""

    agent_id: AgentId
    verdict: StopVerdict
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOutcome:
    """What came of stopping an agent with all below it, each in the order in which they were stopped.

    unstarted: those of `terminated` of which nothing had been started. ended_as: how those of `skipped` had
    ended before.
    """

    terminated: tuple[AgentId, ...] = ()
    failed: tuple[StopOutcome, ...] = ()
    skipped: tuple[AgentId, ...] = ()
    unstarted: tuple[AgentId, ...] = ()
    ended_as: Mapping[AgentId, AgentStatus] = field(default_factory=dict)

    @property
    def total_processed(self) -> int:
        """How many agents it was about."""
        return len(self.terminated) + len(self.failed) + len(self.skipped)
