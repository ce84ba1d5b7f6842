"""Who asks. A caller is made from a box, a credential or by the host itself, never from a body."""

from dataclasses import dataclass

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, TurnId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.tokens import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCaller:
    """The orchestrator acting on its own account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCaller:
    """Who runs this installation, known by the operator token, or by his id in the main chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCaller:
    """An agent, known by the box its request lay in, the output of its own process, or its session token."""

    agent_id: AgentId
    box: BoxName
    group: GroupFolder
    chat_jid: Jid
    is_main: bool
    turn_id: TurnId | None = None


def caller_of(agent: Agent) -> AgentCaller:
    """The caller that a stored agent is, outside of any turn."""
    return AgentCaller(
        agent_id=agent.agent_id,
        box=agent.box,
        group=agent.group,
        chat_jid=agent.chat_jid,
        is_main=agent.is_main,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCaller:
    """A program outside, known by an API key that the operator made for it."""

    name: str
    scopes: frozenset[Scope]


Caller = HostCaller | OperatorCaller | AgentCaller
"""Whose request a command does, by the table of `core.authority`."""
AnyCaller = Caller | KeyCaller
"""Who may ask for an operation on agents: a program outside, too, as far as its scopes go."""
BearerCaller = OperatorCaller | AgentCaller | KeyCaller
"""Who may stand behind the bearer of a request over HTTP."""
