"""What keeps agents that were asked for from their start, as far as the store or the group queue says it."""

from collections import Counter
from collections.abc import Iterable, Mapping

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, QueueReason
from orchestrator.contracts.records.spawns import SpawnRecord, SpawnSummary
from orchestrator.store import agents
from orchestrator.store.transaction import Transaction


def queue_reason(
    tx: Transaction, services: Services, agent: Agent, spawn: SpawnRecord | SpawnSummary | None
) -> QueueReason | None:
    """Why it waits; None if it does not, or is just about to be started."""
    if agent.status is not AgentStatus.PENDING:
        return None
    if (noted := services.queued_by.get(agent.agent_id)) is not None:
        return noted
    start_after = None if spawn is None else spawn.restarts.start_after
    if start_after is not None and start_after > services.clock.now():
        return QueueReason.RESTART_DELAY
    parent = None if agent.parent_agent_id is None else agents.get(tx, agent.parent_agent_id)
    is_early = parent is not None and parent.status is AgentStatus.PENDING
    return QueueReason.PARENT_QUEUED if is_early else None


def count_reasons(
    tx: Transaction, services: Services, found: Iterable[Agent], known: Mapping[AgentId, SpawnRecord]
) -> dict[QueueReason, int]:
    """How many of them wait for what, the most frequent first."""
    reasons = [queue_reason(tx, services, each, known.get(each.agent_id)) for each in found]
    counts = Counter(each for each in reasons if each is not None)
    return dict(counts.most_common())
