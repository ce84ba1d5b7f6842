"""Which agents a caller may see and touch: an agent what came of it, a program what it started."""

from collections.abc import Collection, Sequence
from typing import Final, assert_never

from orchestrator.contracts.callers import AgentCaller, AnyCaller, HostCaller, KeyCaller, OperatorCaller
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.tokens import Scope
from orchestrator.store import agents, lineage, spawns, trees
from orchestrator.store.transaction import Transaction

OPERATOR_KEY: Final = "operator"
"""The credential that the operator is."""
_MAX_ID_CHARS: Final = 128
_TOUCHES_ALL: Final = frozenset({Scope.MANAGE})
_SEES_ALL: Final = frozenset({Scope.MANAGE, Scope.READ})


def own_agent(tx: Transaction, caller: AnyCaller, agent_id: str) -> Agent:
    """The agent, if the caller may touch it; a foreign and an absent one look the same. Raises NotFound.

    agent_id: or the id of a tree, for its root.
    """
    return _found(tx, caller, agent_id, _TOUCHES_ALL)


def seen_agent(tx: Transaction, caller: AnyCaller, agent_id: str) -> Agent:
    """The same, if the caller may see it."""
    return _found(tx, caller, agent_id, _SEES_ALL)


def may_touch(tx: Transaction, caller: AnyCaller, agent: Agent) -> bool:
    """Whether the caller may stop this agent, and start others below it."""
    return _reaches(tx, caller, agent, _TOUCHES_ALL)


def may_see(tx: Transaction, caller: AnyCaller, agent: Agent) -> bool:
    """Whether the caller may know how this agent stands."""
    return _reaches(tx, caller, agent, _SEES_ALL)


def those_seen(tx: Transaction, caller: AnyCaller, found: Sequence[Agent]) -> list[Agent]:
    """Of these agents those that `may_see` says yes to, looked up at once."""
    if isinstance(caller, AgentCaller):
        below = {each.agent_id for each in lineage.subtree(tx, caller.agent_id)}
        return [agent for agent in found if agent.agent_id in below]
    if not isinstance(caller, KeyCaller) or caller.scopes & _SEES_ALL:
        return list(found)
    owned = spawns.below_caller(tx, key_credential(caller.name))
    return [agent for agent in found if agent.agent_id in owned]


def key_credential(name: str) -> str:
    """What the spawns of a program are counted and owned by."""
    return f"key:{name}"


def asker_of(caller: AnyCaller) -> str | None:
    """Who asks, as records and events name it; None if we do it on our own account."""
    match caller:
        case AgentCaller():
            return caller.agent_id
        case KeyCaller():
            return key_credential(caller.name)
        case OperatorCaller():
            return OPERATOR_KEY
        case HostCaller():
            return None
        case _:
            assert_never(caller)


def is_below(tx: Transaction, agent: Agent, top: AgentId) -> bool:
    """Whether an agent is `top`, or came of it."""
    return any(each.agent_id == top for each in lineage.ancestors(tx, agent.agent_id))


def how_to_see_agents(caller: AnyCaller) -> str:
    """What shows which agents there are, as the caller can ask for it."""
    return _LIST_THEM if isinstance(caller, AgentCaller) else _LIST_ALL


_LIST_THEM: Final = "Call get_agent_status without an id to see the agents that you started."
_LIST_ALL: Final = "See which there are: dovecote agent list, or GET /api/v1/agents."


def _found(tx: Transaction, caller: AnyCaller, agent_id: str, reach: Collection[Scope]) -> Agent:
    agent = agents.get(tx, AgentId(agent_id)) or _root(tx, agent_id)
    if agent is None or not _reaches(tx, caller, agent, reach):
        what = "agent" if isinstance(caller, AgentCaller) else "agent or tree"
        raise NotFound(
            f"There is no {what} {agent_id[:_MAX_ID_CHARS]!r} here.",
            code=ErrorCode.AGENT_NOT_FOUND,
            suggestion=how_to_see_agents(caller),
        )
    return agent


def _root(tx: Transaction, tree_id: str) -> Agent | None:
    """The agent that a tree's id stands for: what is done to that one is done to all of the tree."""
    tree = trees.get(tx, TreeId(tree_id))
    return None if tree is None else agents.get(tx, tree.root_agent_id)


def _reaches(tx: Transaction, caller: AnyCaller, agent: Agent, reach: Collection[Scope]) -> bool:
    """reach: the scopes by which a program is not bound to what it started."""
    if isinstance(caller, AgentCaller):
        return is_below(tx, agent, caller.agent_id)
    if not isinstance(caller, KeyCaller) or caller.scopes & set(reach):
        return True
    above = [each.agent_id for each in lineage.ancestors(tx, agent.agent_id)]
    owner = key_credential(caller.name)
    return any(each.caller_key == owner for each in spawns.some(tx, above).values())
