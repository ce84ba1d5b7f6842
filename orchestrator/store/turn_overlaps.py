"""Turns of one agent that were open at the same time, and what they may have in common."""

from typing import Final

from orchestrator.contracts.records.agents import Turn
from orchestrator.store.transaction import Transaction

# One whose messages all went into another is no turn of its own; one given and not begun is.
REQUESTS_BESIDE: Final = """
SELECT coalesce(sum(o.effects - o.outputs), 0) AS requests
  FROM turns AS t JOIN turns AS o ON o.agent_id = t.agent_id AND o.turn_id <> t.turn_id
 WHERE t.agent_id = :agent_id AND t.turn_id = :turn_id
   AND o.status IS NOT 'joined'
   AND (o.ended_ms > t.started_ms
        OR (o.ended_ms IS NULL
            AND EXISTS (SELECT 1 FROM messages AS m
                         WHERE m.agent_id = o.agent_id AND m.turn_id = o.turn_id
                           AND m.status = 'dispatched')))
"""


def may_all_be_of_others(tx: Transaction, turn: Turn) -> bool:
    """Whether each effect of this turn, which has ended, may be a request of one that was open beside it."""
    if turn.outputs:
        return False
    row = tx.one(REQUESTS_BESIDE, {"agent_id": turn.agent_id, "turn_id": turn.turn_id})
    return row is not None and turn.effects <= row["requests"]
