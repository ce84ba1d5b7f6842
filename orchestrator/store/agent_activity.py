"""What agents are doing and have used, asked of many at once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.store.database import Reader

IN_A_TURN: Final = """
SELECT DISTINCT t.agent_id FROM json_each(:agent_ids)
  JOIN turns AS t ON t.agent_id = json_each.value AND t.ended_ms IS NULL
"""
ASKING: Final = """
SELECT DISTINCT q.agent_id FROM json_each(:agent_ids)
  JOIN questions AS q ON q.agent_id = json_each.value AND q.status = 'open'
"""
USED: Final = """
SELECT u.agent_id, sum(u.tokens) AS tokens, sum(u.cost_usd) AS cost_usd FROM json_each(:agent_ids)
  JOIN usage AS u ON u.agent_id = json_each.value
 GROUP BY u.agent_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What an agent used of its provider. None where nobody knows."""

    tokens: int | None = None
    cost_usd: float | None = None


async def in_a_turn(reader: Reader, agent_ids: Sequence[AgentId]) -> set[AgentId]:
    """Those of these agents that are in a turn."""
    rows = await reader.all(IN_A_TURN, {"agent_ids": json.dumps(list(agent_ids))})
    return {AgentId(row["agent_id"]) for row in rows}


async def asking(reader: Reader, agent_ids: Sequence[AgentId]) -> set[AgentId]:
    """Those of these agents that wait for an answer of people."""
    rows = await reader.all(ASKING, {"agent_ids": json.dumps(list(agent_ids))})
    return {AgentId(row["agent_id"]) for row in rows}


async def used(reader: Reader, agent_ids: Sequence[AgentId]) -> dict[AgentId, Used]:
    """What each of these agents used, if it used something."""
    rows = await reader.all(USED, {"agent_ids": json.dumps(list(agent_ids))})
    return {AgentId(row["agent_id"]): Used(tokens=row["tokens"], cost_usd=row["cost_usd"]) for row in rows}
