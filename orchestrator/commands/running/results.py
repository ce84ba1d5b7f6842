"""The texts of a spawned agent, as they come: its result is put together of them."""

from datetime import datetime

from orchestrator.commands.agents.event_writing import note_said
from orchestrator.commands.running.turns import PairKey, count_pair
from orchestrator.store import spawn_texts
from orchestrator.store.transaction import Transaction


def take_result_text(tx: Transaction, key: PairKey, text: str, *, at: datetime) -> bool:
    """Take a pair of a spawned agent: part of its result, not of a chat. False if it was taken before."""
    if not count_pair(tx, key):
        return False
    spawn_texts.add(tx, key.agent.agent_id, key.ordinal, text)
    note_said(tx, key.agent, text, at=at)
    return True
