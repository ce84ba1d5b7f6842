"""What a spawned agent has said so far, one row a pair: joined, its output."""

from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO spawn_texts (agent_id, ordinal, text) VALUES (:agent_id, :ordinal, :text)
ON CONFLICT (agent_id, ordinal) DO NOTHING
"""
OF_AGENT: Final = "SELECT text FROM spawn_texts WHERE agent_id = :agent_id ORDER BY ordinal"
FORGET: Final = "DELETE FROM spawn_texts WHERE agent_id = :agent_id"


def add(tx: Transaction, agent_id: AgentId, ordinal: int, text: str) -> bool:
    """Keep one pair, by its place in the agent's output; False if it was kept before."""
    row = {"agent_id": agent_id, "ordinal": ordinal, "text": text}
    return tx.execute(ADD, row).rowcount == 1


def joined(tx: Transaction, agent_id: AgentId) -> str:
    """All that it said, with a blank line between two texts."""
    return "\n\n".join(row["text"] for row in tx.all(OF_AGENT, {"agent_id": agent_id}))


def forget(tx: Transaction, agent_id: AgentId) -> None:
    """Its output is kept with its result."""
    tx.execute(FORGET, {"agent_id": agent_id})
