"""Forgetting agents that ended long ago with all that hangs on them, and old turns of those that live on."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from orchestrator.store.slices import Slice, prune_slice
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

# Children first: who is still known keeps all above him, whose workspace he may have.
OLD_AGENTS: Final = """
SELECT agent_id FROM agents AS a
 WHERE a.ended_ms < :before_ms
   AND NOT EXISTS (SELECT 1 FROM agents AS c WHERE c.parent_agent_id = a.agent_id)
   AND NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.agent_id = a.agent_id AND m.status = 'dispatched')
 LIMIT :count
"""
_AGENTS: Final = "(SELECT value FROM json_each(:agents))"
OF_AGENTS: Final[Mapping[str, str]] = {
    "turns": f"DELETE FROM turns WHERE agent_id IN {_AGENTS}",
    "spawn_texts": f"DELETE FROM spawn_texts WHERE agent_id IN {_AGENTS}",
    "waits of": f"DELETE FROM waits WHERE waiter IN {_AGENTS}",
    "waits for": f"DELETE FROM waits WHERE awaited IN {_AGENTS}",
    "spawns": f"DELETE FROM spawns WHERE agent_id IN {_AGENTS}",
    "agents": f"DELETE FROM agents WHERE agent_id IN {_AGENTS}",
}
SOME_TURNS: Final = """
SELECT count(*) AS n, max(number) AS last, min(started_ms) AS oldest_ms
  FROM (SELECT rowid AS number, started_ms FROM turns WHERE rowid > :after ORDER BY rowid LIMIT :count)
"""
# What stays of an agent that lives: all turns of one that does a single thing, which is settled by them; the
# last one; what may have had requests in common with one that is open; what holds messages.
PRUNE_TURNS: Final = """
DELETE FROM turns
 WHERE rowid IN (
       SELECT t.rowid FROM turns AS t
        WHERE t.rowid > :after AND t.rowid <= :last AND t.ended_ms < :before_ms
          AND NOT EXISTS (SELECT 1 FROM agents AS a
                           WHERE a.agent_id = t.agent_id AND a.ended_ms IS NULL AND a.kind = 'job')
          AND EXISTS (SELECT 1 FROM turns AS o
                       WHERE o.agent_id = t.agent_id AND (o.started_ms, o.rowid) > (t.started_ms, t.rowid))
          AND NOT EXISTS (SELECT 1 FROM turns AS o
                           WHERE o.agent_id = t.agent_id AND o.ended_ms IS NULL AND o.started_ms < t.ended_ms)
          AND NOT EXISTS (SELECT 1 FROM messages AS m
                           WHERE m.agent_id = t.agent_id AND m.turn_id = t.turn_id
                             AND m.status = 'dispatched'))
"""


def prune_agents(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` agents that ended before and of which nothing is left; how many."""
    found = tx.all(OLD_AGENTS, {"before_ms": to_ms(before), "count": count})
    if found:
        gone = {"agents": json.dumps([row["agent_id"] for row in found])}
        for sql in OF_AGENTS.values():
            tx.execute(sql, gone)
    return len(found)


def prune_turns(tx: Transaction, *, before: datetime, after: int, count: int) -> Slice:
    """Forget those of the next `count` turns that ended before and that nothing asks for any more."""
    return prune_slice(tx, SOME_TURNS, PRUNE_TURNS, after=after, before=before, count=count)
