"""Trees: a root agent with all that came of it. Which agents are in one is asked of their own rows."""

import sqlite3
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.spawns import Tree, TreeStatus
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO trees (tree_id, root_agent_id, status, created_ms)
VALUES (:tree_id, :root_agent_id, :status, :at_ms)
ON CONFLICT (tree_id) DO NOTHING
"""
COUNT_CHILD: Final = """
UPDATE trees SET total_agents = total_agents + 1, max_depth_reached = max(max_depth_reached, :depth)
 WHERE tree_id = :tree_id
"""
GET: Final = "SELECT * FROM trees WHERE tree_id = :tree_id"
LISTED: Final = """
SELECT * FROM trees WHERE ended_ms IS NULL OR ended_ms >= :since_ms ORDER BY created_ms DESC LIMIT :count
"""
END: Final = """
UPDATE trees SET status = 'terminated', ended_ms = :at_ms WHERE tree_id = :tree_id AND status = 'active'
"""
PRUNE: Final = """
DELETE FROM trees
 WHERE tree_id IN (SELECT tree_id FROM trees AS t
                    WHERE t.ended_ms < :before_ms
                      AND NOT EXISTS (SELECT 1 FROM agents AS a WHERE a.tree_id = t.tree_id)
                    LIMIT :count)
"""


def add(tx: Transaction, tree_id: TreeId, root: AgentId, *, at: datetime) -> None:
    """Begin a tree with its root."""
    tx.execute(
        ADD,
        {
            "tree_id": tree_id,
            "root_agent_id": root,
            "status": TreeStatus.ACTIVE.value,
            "at_ms": to_ms(at),
        },
    )


def count_child(tx: Transaction, tree_id: TreeId, *, depth: int) -> None:
    """One more agent of this tree, at that depth."""
    tx.execute(COUNT_CHILD, {"tree_id": tree_id, "depth": depth})


def get(tx: Transaction, tree_id: TreeId) -> Tree | None:
    """The tree's record."""
    row = tx.one(GET, {"tree_id": tree_id})
    return None if row is None else _tree(row)


async def find(reader: Reader, tree_id: TreeId) -> Tree | None:
    """As `get`, outside a transaction."""
    row = await reader.one(GET, {"tree_id": tree_id})
    return None if row is None else _tree(row)


async def listed(reader: Reader, *, ended_since: datetime, count: int) -> list[Tree]:
    """The newest trees that are active or ended since then, newest first."""
    rows = await reader.all(LISTED, {"since_ms": to_ms(ended_since), "count": count})
    return [_tree(row) for row in rows]


def end(tx: Transaction, tree_id: TreeId, *, at: datetime) -> bool:
    """Nothing is started in it any more; False if it had ended before."""
    return tx.execute(END, {"tree_id": tree_id, "at_ms": to_ms(at)}).rowcount == 1


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` trees that ended before `before` and have no agent any more; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


def _tree(row: sqlite3.Row) -> Tree:
    return Tree(
        tree_id=TreeId(row["tree_id"]),
        root_agent_id=AgentId(row["root_agent_id"]),
        status=TreeStatus(row["status"]),
        created_at=from_ms(row["created_ms"]),
        ended_at=maybe_from_ms(row["ended_ms"]),
        total_agents=row["total_agents"],
        max_depth_reached=row["max_depth_reached"],
    )
