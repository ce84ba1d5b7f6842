"""Who asks. A caller is made from a box, a credential or by the host itself, never from a body."""

from dataclasses import dataclass

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCaller:
    """The orchestrator acting on its own account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCaller:
    """The person who runs this installation, known by the operator token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCaller:
    """An agent, known by the box its request lay in, or by the output of its own process."""

    agent_id: AgentId
    box: BoxName
    group: GroupFolder
    chat_jid: Jid
    is_main: bool
    turn_id: TurnId | None = None


Caller = HostCaller | OperatorCaller | AgentCaller
