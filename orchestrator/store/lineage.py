"""Who started whom, asked of the agents' own rows."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent
from orchestrator.store.agents import agent_of
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

CHILDREN: Final = "SELECT * FROM agents WHERE parent_agent_id = :agent_id ORDER BY started_ms, rowid"
SUBTREE: Final = """
WITH RECURSIVE below (agent_id) AS (
    SELECT :agent_id
    UNION
    SELECT a.agent_id FROM below JOIN agents AS a ON a.parent_agent_id = below.agent_id
)
SELECT a.* FROM below JOIN agents AS a ON a.agent_id = below.agent_id ORDER BY a.depth, a.started_ms, a.rowid
"""
CHILD_IDS: Final = """
SELECT parent_agent_id, agent_id FROM json_each(:agent_ids)
  JOIN agents AS a ON a.parent_agent_id = json_each.value
 ORDER BY a.started_ms, a.rowid
"""
ANCESTORS: Final = """
WITH RECURSIVE above (agent_id, parent_agent_id) AS (
    SELECT agent_id, parent_agent_id FROM agents WHERE agent_id = :agent_id
    UNION
    SELECT a.agent_id, a.parent_agent_id FROM above JOIN agents AS a ON a.agent_id = above.parent_agent_id
)
SELECT a.* FROM above JOIN agents AS a ON a.agent_id = above.agent_id ORDER BY a.depth
"""
OF_TREE: Final = "SELECT * FROM agents WHERE tree_id = :tree_id ORDER BY depth, started_ms, rowid"
UNENDED: Final = "SELECT * FROM agents WHERE ended_ms IS NULL ORDER BY started_ms, rowid"
COUNT_IN_TREE: Final = "SELECT count(*) AS n FROM agents WHERE tree_id = :tree_id AND ended_ms IS NULL"
COUNT_CHILDREN: Final = """
SELECT count(*) AS n FROM agents WHERE parent_agent_id = :agent_id AND ended_ms IS NULL
"""
COUNT_HOLDING: Final = """
SELECT count(*) AS n FROM agents AS a
 WHERE a.ended_ms IS NULL
   AND (a.kind = 'job' OR a.status <> 'running'
        OR EXISTS (SELECT 1 FROM turns AS t WHERE t.agent_id = a.agent_id AND t.ended_ms IS NULL))
"""
EARLIER_HELPERS: Final = """
SELECT a.* FROM agents AS a
 WHERE a.chat_jid = :chat AND a.depth = 1 AND a.tree_id <> :tree_id AND a.ended_ms >= :since_ms
   AND EXISTS (SELECT 1 FROM agents AS p WHERE p.agent_id = a.parent_agent_id AND p.kind = 'session')
 ORDER BY a.ended_ms DESC, a.rowid DESC LIMIT :count
"""
NEWEST: Final = (
    "SELECT * FROM agents ORDER BY ended_ms IS NULL DESC, started_ms DESC, rowid DESC LIMIT :count"
)


def children(tx: Transaction, agent_id: AgentId) -> list[Agent]:
    """The agents that it started, ended ones too, oldest first."""
    return [agent_of(row) for row in tx.all(CHILDREN, {"agent_id": agent_id})]


def child_ids(tx: Transaction, agent_ids: Iterable[AgentId]) -> dict[AgentId, list[AgentId]]:
    """Of each of these agents that has some, its children, ended ones too, oldest first."""
    found: dict[AgentId, list[AgentId]] = {}
    for row in tx.all(CHILD_IDS, {"agent_ids": json.dumps(list(agent_ids))}):
        found.setdefault(AgentId(row["parent_agent_id"]), []).append(AgentId(row["agent_id"]))
    return found


def subtree(tx: Transaction, agent_id: AgentId) -> list[Agent]:
    """It and all below it, ended ones too, parents before children; empty if it is unknown."""
    return [agent_of(row) for row in tx.all(SUBTREE, {"agent_id": agent_id})]


def ancestors(tx: Transaction, agent_id: AgentId) -> list[Agent]:
    """It and all above it that are still known, the root first; empty if it is unknown."""
    return [agent_of(row) for row in tx.all(ANCESTORS, {"agent_id": agent_id})]


def of_tree(tx: Transaction, tree_id: TreeId) -> list[Agent]:
    """All agents of a tree, parents before children."""
    return [agent_of(row) for row in tx.all(OF_TREE, {"tree_id": tree_id})]


def earlier_helpers(tx: Transaction, agent: Agent, *, since: datetime, count: int) -> list[Agent]:
    """Those of earlier agents of the same chat that have ended since then, the last one first."""
    parameters = {"chat": agent.chat_jid, "tree_id": agent.tree_id, "since_ms": to_ms(since), "count": count}
    return [agent_of(row) for row in tx.all(EARLIER_HELPERS, parameters)]


def unended(tx: Transaction) -> list[Agent]:
    """All that are reserved or believed to run, oldest first."""
    return [agent_of(row) for row in tx.all(UNENDED, {})]


def count_in_tree(tx: Transaction, tree_id: TreeId) -> int:
    """The agents of a tree that have not ended, reserved ones too."""
    return _count(tx, COUNT_IN_TREE, {"tree_id": tree_id})


def count_children(tx: Transaction, agent_id: AgentId) -> int:
    """The children of an agent that have not ended, reserved ones too."""
    return _count(tx, COUNT_CHILDREN, {"agent_id": agent_id})


def count_holding(tx: Transaction) -> int:
    """The agents that hold a place among all: those that have not ended, but for idle ones of chats."""
    return _count(tx, COUNT_HOLDING, {})


def newest(tx: Transaction, *, count: int) -> list[Agent]:
    """Those that have not ended, then those that began last."""
    return [agent_of(row) for row in tx.all(NEWEST, {"count": count})]


def _count(tx: Transaction, sql: str, parameters: dict[str, object]) -> int:
    row = tx.one(sql, parameters)
    assert row is not None
    return int(row["n"])
