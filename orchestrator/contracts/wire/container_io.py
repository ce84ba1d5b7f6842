"""What goes into a container on standard input, and the events it prints.

Source: contracts.md sections 1, 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, TreeId, TurnId
from orchestrator.contracts.wire.codec import Wire, WireError, from_plain

PROTOCOL: Final = 1
"""Major version of the container contract; the image carries it in the label `dovecote.protocol`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer(Wire):
    """An MCP server that the definition adds: one that the driver starts, or one at a URL."""

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition(Wire):
    """How the agent behaves, resolved by the host.

    driver: `builtin` | `claude` | `acp` | `script`. instructions: the rendered start-up prompt.
    options: what only that driver reads. name: the agent's own. command: of an ACP program, in words.
    permissions: `deny-all` | `approve-reads` | `approve-all`. modes: session modes to try, best first,
    before those that all programs share. mode_option: the config option that stands for a mode.
    offers_files: whether the program may read and write files through us. toolsets: what our own tool
    server offers. extra_directories: container paths.
    """

    driver: str
    instructions: str = ""
    options: Mapping[str, object] | None = None
    name: str | None = None
    provider: str | None = None
    command: tuple[str, ...] = ()
    model: str | None = None
    permissions: str = "approve-reads"
    modes: tuple[str, ...] = ()
    mode_option: str | None = None
    offers_files: bool = True
    stop_wait_s: float = 5.0
    mcp_servers: tuple[ToolServer, ...] = ()
    max_turns: int | None = None
    toolsets: tuple[str, ...] = ()
    extra_directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerInput(Wire):
    """The one JSON object on standard input.

    messages: XML strings, oldest first. inputs: their message ids. triggers: those of the ids that ask
    for an answer; the rest is context. `prompt` and `is_scheduled_task` repeat the same for agents made
    for NanoClaw 1.x.
    """

    messages: tuple[str, ...]
    group_folder: GroupFolder
    chat_jid: Jid
    assistant_name: str
    prompt: str
    inputs: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    tasks_snapshot: str | None = None
    groups_snapshot: str | None = None
    is_task: bool = False
    is_scheduled_task: bool = False
    task_context: str | None = None
    agent_id: AgentId | None = None
    tree_id: TreeId | None = None
    parent_agent_id: AgentId | None = None
    depth: int = 0
    is_main: bool = False
    turn_id: TurnId | None = None
    session_id: str | None = None
    agent: AgentDefinition | None = None
    timezone: str | None = None
    locale: str | None = None
    limits: Mapping[str, object] | None = None
    protocol: int = PROTOCOL


class TurnStatus(StrEnum):
    """How a turn ended, as the agent says it."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnError(Wire):
    """Why a turn failed. code: PROVIDER_RATE_LIMITED, PROVIDER_OVERLOADED, PROVIDER_AUTH,
    CONTEXT_TOO_LONG, BUDGET_EXCEEDED, PROGRAM_MISSING, START_FAILED, PROGRAM_ENDED or
    AGENT_ERROR."""

    code: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Wire):
    """What a turn used, as the driver knows it; informational. Spelled in snake_case on the wire."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    wire_names: ClassVar[Mapping[str, str]] = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cost_usd": "cost_usd",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Wire):
    """Said first: the agent runner is up. mounts: container path to `device:inode`, where it can tell."""

    protocol: int
    version: str = ""
    mounts: Mapping[str, str] | None = None
    type: str = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNamed(Wire):
    """The driver's session, to be resumed by a later run."""

    session_id: str
    type: str = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Wire):
    """A turn began, or took in a follow-up: `inputs` is all it has by now."""

    turn_id: TurnId
    inputs: tuple[str, ...] = ()
    type: str = "turn_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Wire):
    """A turn is over. outputs: pairs printed in it."""

    turn_id: TurnId
    inputs: tuple[str, ...] = ()
    outputs: int = 0
    status: TurnStatus = TurnStatus.SUCCESS
    error: TurnError | None = None
    usage: Usage | None = None
    type: str = "turn_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUsed(Wire):
    """The agent used a tool; says that it is alive."""

    name: str
    status: str = ""
    type: str = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Wire):
    """How far a turn is. progress: 0 to 100."""

    progress: float
    description: str | None = None
    type: str = "progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingInput(Wire):
    """The agent waits for a person's answer. question_id: what the answer in `input/` names."""

    question: str
    options: tuple[str, ...] = ()
    question_id: str = ""
    type: str = "waiting_input"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLog(Wire):
    """A line for the agent's log; the only event that does not show life."""

    message: str
    level: str = "info"
    type: str = "log"


AgentEvent = Ready | SessionNamed | TurnStarted | TurnEnded | ToolUsed | Progress | WaitingInput | AgentLog
_EVENTS: Final[Mapping[str, type[Wire]]] = {
    "ready": Ready,
    "session": SessionNamed,
    "turn_started": TurnStarted,
    "turn_ended": TurnEnded,
    "tool": ToolUsed,
    "progress": Progress,
    "waiting_input": WaitingInput,
    "log": AgentLog,
}


def parse_event(plain: object) -> AgentEvent:
    """The event that a JSON object stands for, by its `type`. Raises WireError."""
    name = plain.get("type") if isinstance(plain, dict) else None
    kind = _EVENTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise WireError("AgentEvent: no known type")
    return from_plain(kind, plain)  # type: ignore[return-value]  # the table holds AgentEvent's members
