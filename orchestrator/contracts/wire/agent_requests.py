"""What an agent may ask for in `agents/`: children, how they stand, their end.

Source: agents.md section 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from orchestrator.contracts.ids import Jid, RequestId
from orchestrator.contracts.wire.boxes import AGENTS
from orchestrator.contracts.wire.codec import ExactWire, Wire
from orchestrator.contracts.wire.tools import Tool, ToolInput


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionWish(ExactWire):
    """What a child is to be allowed; absent: what is usual. A right that nobody knows is refused."""

    can_spawn: bool | None = None
    chat: bool | None = None
    inherit_git_hub_token: bool | None = None
    detach: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnAgent(ExactWire):
    """Start a child. The reply comes at once; `replies/{agentId}.json` follows when it is ready or has ended.

    workspace_path: where the caller has it; absent: the caller's own workspace. wait: none, ready or result.
    profile: standard or safe. on_parent_exit: stop, request_stop or detach. restart_policy: never, on_failure
    or always. A field that nobody knows is refused: a limit that was misspelled would be none.
    """

    directory: ClassVar[str] = AGENTS
    type_name: ClassVar[str] = "spawn_agent"

    task: str
    workspace_path: str | None = None
    writable_paths: tuple[str, ...] = ()
    timeout_ms: int | None = None
    wait: str = "none"
    profile: str = "standard"
    on_parent_exit: str = "stop"
    restart_policy: str = "never"
    permissions: PermissionWish | None = None
    name: str | None = None
    idempotency_key: str | None = None
    request_id: RequestId | None = None
    type: str = "spawn_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnWords:
    """What a model says to start a child; seed 000's inputs, and how long the call is to last."""

    task: str
    workspace_path: str | None = None
    writable_paths: tuple[str, ...] = ()
    timeout_ms: int | None = None
    wait: str = "result"
    restart_policy: str = "never"
    name: str | None = None

    def as_request(self, chat: Jid) -> SpawnAgent:
        """The request that it stands for."""
        return SpawnAgent(
            task=self.task,
            workspace_path=self.workspace_path,
            writable_paths=self.writable_paths,
            timeout_ms=self.timeout_ms,
            wait=self.wait,
            restart_policy=self.restart_policy,
            name=self.name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAgentStatus(Wire):
    """How one agent of the caller's subtree stands, or all of them. include_tree: also as a tree."""

    directory: ClassVar[str] = AGENTS
    type_name: ClassVar[str] = "get_agent_status"

    agent_id: str | None = None
    include_tree: bool = False
    request_id: RequestId | None = None
    type: str = "get_agent_status"


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminateAgent(Wire):
    """Stop an agent below the caller, with all below it. `replies/{agentId}.json` follows at its end."""

    directory: ClassVar[str] = AGENTS
    type_name: ClassVar[str] = "terminate_agent"

    agent_id: str
    request_id: RequestId | None = None
    type: str = "terminate_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportProgress(Wire):
    """Say how far the caller is with its own task. progress: 0 to 100."""

    directory: ClassVar[str] = AGENTS
    type_name: ClassVar[str] = "report_progress"

    progress: float
    description: str | None = None
    request_id: RequestId | None = None
    type: str = "report_progress"


REQUESTS: Final = (SpawnAgent, GetAgentStatus, TerminateAgent, ReportProgress)
"""The request types of this area."""

OLD_SPELLINGS: Final[Mapping[str, str]] = {
    "agent_id": "agentId",
    "idempotency_key": "idempotencyKey",
    "include_tree": "includeTree",
    "on_parent_exit": "onParentExit",
    "restart_policy": "restartPolicy",
    "timeout_ms": "timeoutMs",
    "workspace_path": "workspacePath",
    "writable_paths": "writablePaths",
}
"""Keys as the source document spells them, and ours."""

SPAWN_AGENT: Final = Tool(
    name="spawn_agent",
    request=SpawnAgent,
    shape=SpawnWords,
    about=(
        "Start another agent that does one task for you, and wait for its result. Use it for work that can "
        "be done apart from yours: it runs beside you, several at once if you call this several times. It "
        "knows nothing of this conversation, only the words of task; it reads the files of your workspace "
        "and writes only where writable_paths lets it. It writes no messages to the chat: what it says at "
        "its end is output. The result also has status (completed, failed or timeout), exit_code, "
        "duration_ms, files_modified, error, and in quota_info how many more may be started and how deep. "
        "If this call is cut off, the agent works on: get_agent_status with its agent_id has the result "
        "later. It is stopped when you end. An error such as QUOTA_EXCEEDED, DEPTH_EXCEEDED or "
        "RATE_LIMITED names the limit: then do the work yourself, or wait until one has ended."
    ),
    inputs={
        "task": ToolInput(
            about=(
                "What is to be done, 1 to 50,000 characters, addressed to somebody who knows nothing but "
                "these words: name the files, what to write where, and what to answer at the end."
            ),
            example="Read src/user.py, write unit tests to tests/test_user.py, and say what is tested.",
        ),
        "workspace_path": ToolInput(
            about=(
                "The directory it works in: an absolute path in your workspace, such as "
                "/workspace/group/site; another directory of the machine only if an operator allowed it. "
                "Leave it out for your own workspace."
            ),
            example="/workspace/group/site",
        ),
        "writable_paths": ToolInput(
            about=(
                "What it may write: files or directories, relative to its workspace. What does not exist "
                "is made, as a directory if it ends in /. Leave it out, and it only reads."
            ),
            example=["tests/", "notes.md"],
        ),
        "timeout_ms": ToolInput(
            about=(
                "The time it may take, in milliseconds, 1 to 86400000 (24 hours); then it is stopped, and "
                "its status is timeout. Usually 3600000, one hour; never beyond your own time."
            ),
            example=1800000,
        ),
        "wait": ToolInput(
            about=(
                "When this call returns. result: when the agent has ended. ready: when it has begun. none: "
                "at once; then ask get_agent_status for its result."
            ),
            example="result",
            choices=("none", "ready", "result"),
        ),
        "restart_policy": ToolInput(
            about=(
                "Whether it is started again from its beginning after it has ended by itself: never, "
                "on_failure, or always. Each attempt writes into what the one before left; after a few "
                "restarts in a short time it ends as failed. wait: result lasts to the last attempt's end."
            ),
            example="on_failure",
            choices=("never", "on_failure", "always"),
        ),
        "name": ToolInput(
            about="A short name for people, up to 64 characters, shown wherever agents are listed.",
            example="test writer",
        ),
    },
    done="Agent {agent_id} is at work. Call get_agent_status with its id for its result.",
    doubt=(
        "Call get_agent_status to see whether it was started before you try again, or it may be done twice."
    ),
)
GET_AGENT_STATUS: Final = Tool(
    name="get_agent_status",
    request=GetAgentStatus,
    about=(
        "Tell how agents stand: the one with agent_id, or without it you and all that you started, with "
        "theirs. Each has id, name, task, status (running, completed or failed), lifecycle (the same more "
        "exactly, such as pending or timed_out), startedAt, endedAt, exitCode, output, error, "
        "parentAgentId, childAgentIds, nestingDepth and treeId. It changes nothing."
    ),
    inputs={
        "agent_id": ToolInput(
            about="The id of the agent, as spawn_agent gives it; leave it out for all.",
            example="agent-0192c3f4a5b6",
        )
    },
    done="Agents: {count}.",
    doubt="It changes nothing: try again in a minute.",
    only_reads=True,
)
TERMINATE_AGENT: Final = Tool(
    name="terminate_agent",
    request=TerminateAgent,
    about=(
        "Stop an agent that you started, with all that it started, and wait until they are gone. The result "
        "has success, terminated (the ids of those that are gone), failed (those that are not, each with "
        "the error) and totalProcessed. What it has written so far stays. One that had ended before is no "
        "error. You can't stop yourself: end your turn instead."
    ),
    inputs={
        "agent_id": ToolInput(
            about="The id of the agent, as spawn_agent and get_agent_status give it.",
            example="agent-0192c3f4a5b6",
        )
    },
    done="Stopped: {totalProcessed}.",
    doubt="Call get_agent_status to see whether it still runs before you try again.",
    ends_something=True,
)
REPORT_PROGRESS: Final = Tool(
    name="report_progress",
    request=ReportProgress,
    about=(
        "Tell whoever watches how far you are with your task. Use it now and then in work that takes "
        "minutes. It is shown to the operator, not in the chat."
    ),
    inputs={
        "progress": ToolInput(about="How much is done, in percent: 0 to 100.", example=40),
        "description": ToolInput(
            about="What you are at, in a few words; leave it out if the number says it.",
            example="4 of 10 files read",
        ),
    },
    done="Noted: {progress} %.",
    doubt="Go on with your work; it matters little.",
)

TOOLS: Final = (SPAWN_AGENT, GET_AGENT_STATUS, TERMINATE_AGENT, REPORT_PROGRESS)
"""What a model is offered of this area."""
