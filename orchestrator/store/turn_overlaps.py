"""Turns of one agent that were open at the same time, and what they may have in common."""

from typing import Final

from orchestrator.contracts.records.agents import Turn
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

# One whose messages all went into another is no turn of its own; one given and not begun is.
REQUESTS_BESIDE: Final = """
WITH beside AS (
  SELECT * FROM turns INDEXED BY turns_ended WHERE agent_id = :agent_id AND ended_ms > :started_ms
  UNION ALL
  SELECT * FROM turns AS o INDEXED BY turns_open
   WHERE agent_id = :agent_id AND ended_ms IS NULL
     AND EXISTS (SELECT 1 FROM messages AS m
                  WHERE m.agent_id = o.agent_id AND m.turn_id = o.turn_id AND m.status = 'dispatched'))
SELECT coalesce(sum(effects - outputs), 0) AS requests
  FROM beside
 WHERE turn_id <> :turn_id AND status IS NOT 'joined'
"""


def may_all_be_of_others(tx: Transaction, turn: Turn) -> bool:
    """Whether each effect of this turn, which has ended, may be a request of one that was open beside it."""
    if turn.outputs:
        return False
    wanted = {
        "agent_id": turn.agent_id,
        "turn_id": turn.turn_id,
        "started_ms": to_ms(turn.started_at),
    }
    row = tx.one(REQUESTS_BESIDE, wanted)
    return row is not None and turn.effects <= row["requests"]
