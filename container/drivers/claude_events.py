"""What the driver `claude` hears of its program, as values: nothing of the package's own goes further."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The program works on a prompt, in this session. failed_servers: MCP servers it does without."""

    session_id: str
    failed_servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A whole text of the model for whoever reads the chat."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBegun:
    """The model uses a tool. call_id: what its end names. given: its arguments."""

    name: str
    call_id: str
    given: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDone:
    """A tool has answered the model."""

    call_id: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """Something else shows that the program is alive. what: for the agent's log."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The program has come to the end of a prompt, and of those it took in meanwhile.

    taken: the ids of these prompts; empty where it does not tell. status: the provider's HTTP status that
    ended it. kind: the program's word for the provider's error. reason: its word for why it ended.
    total_cost_usd: of the session so far.
    """

    session_id: str
    is_error: bool
    taken: tuple[str, ...] = ()
    text: str = ""
    subtype: str = ""
    reason: str = ""
    stop_reason: str = ""
    status: int | None = None
    kind: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    total_cost_usd: float | None = None


ClaudeEvent = Begun | Said | ToolBegun | ToolDone | Working | Finished
