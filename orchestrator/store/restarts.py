"""Spawned agents that are to be started again: reserved as before, with the count of their restarts."""

import json
import sqlite3
from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.spawns import RestartPolicy, Restarts
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

# Its next process prints its pairs and lines from the first one on.
RESERVE: Final = """
UPDATE agents SET status = :now, process_ref = NULL, pairs = 0, lines = 0, error_lines = 0
 WHERE agent_id = :agent_id AND status = :was
"""
COUNT: Final = """
UPDATE spawns
   SET restarts = :count, recent_restarts = :recent, start_after_ms = :start_after_ms,
       earlier_files = :earlier_files
 WHERE agent_id = :agent_id
"""
LEAVE_CHILDREN: Final = """
UPDATE spawns SET is_left = 1
 WHERE agent_id IN (SELECT agent_id FROM agents WHERE parent_agent_id = :agent_id AND ended_ms IS NULL)
"""
# CROSS JOIN: the few that live are walked through, not all that were ever left.
LEFT: Final = """
SELECT a.agent_id FROM agents AS a CROSS JOIN spawns AS s ON s.agent_id = a.agent_id
 WHERE a.ended_ms IS NULL AND s.is_left = 1
"""


def reserve_again(
    tx: Transaction, agent_id: AgentId, restarts: Restarts, *, was: AgentStatus, now: AgentStatus
) -> bool:
    """Let the agent wait for its next start, if its status still is `was`; what it had started is left."""
    moved = tx.execute(RESERVE, {"agent_id": agent_id, "was": was.value, "now": now.value})
    if moved.rowcount != 1:
        return False
    start_after = restarts.start_after
    tx.execute(
        COUNT,
        {
            "agent_id": agent_id,
            "count": restarts.count,
            "recent": json.dumps([to_ms(at) for at in restarts.recent]),
            "start_after_ms": None if start_after is None else to_ms(start_after),
            "earlier_files": json.dumps(restarts.earlier_files),
        },
    )
    tx.execute(LEAVE_CHILDREN, {"agent_id": agent_id})
    return True


def left_by_restarts(tx: Transaction) -> set[AgentId]:
    """The agents that live on while their parent has begun again without them."""
    return {AgentId(row["agent_id"]) for row in tx.all(LEFT, {})}


def restarts_of(row: sqlite3.Row) -> Restarts:
    """What a row of `spawns` says of them."""
    files = json.loads(row["earlier_files"])
    return Restarts(
        policy=RestartPolicy(row["restart_policy"]),
        count=row["restarts"],
        recent=tuple(from_ms(at_ms) for at_ms in json.loads(row["recent_restarts"])),
        start_after=maybe_from_ms(row["start_after_ms"]),
        earlier_files=None if files is None else tuple(files),
    )
