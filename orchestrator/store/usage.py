"""What agents' calls to providers used: one row a call, summed for whoever asks."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from orchestrator.contracts.ids import AgentId, GroupFolder, TurnId
from orchestrator.contracts.records.usage import Spent, TurnUse, UsageLine, UsedCall
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO usage (at_ms, folder, agent_id, turn_id, provider, model, status, failure, input_tokens,
                   output_tokens, cache_read_tokens, cache_write_tokens, tokens, cost_usd)
VALUES (:at_ms, :folder, :agent_id, :turn_id, :provider, :model, :status, :failure, :input_tokens,
        :output_tokens, :cache_read_tokens, :cache_write_tokens, :tokens, :cost_usd)
"""
TURN_AT: Final = """
SELECT turn_id FROM turns
 WHERE agent_id = :agent_id AND started_ms <= :at_ms
 ORDER BY started_ms DESC, rowid DESC LIMIT 1
"""
SPENT: Final = """
SELECT total(tokens) FILTER (WHERE at_ms >= :day_ms) AS tokens_today,
       total(cost_usd) FILTER (WHERE at_ms >= :month_ms) AS usd_this_month,
       count(*) FILTER (WHERE at_ms >= :month_ms AND tokens > 0 AND cost_usd IS NULL) AS unpriced
  FROM usage
 WHERE folder = :folder AND at_ms >= min(:day_ms, :month_ms)
"""
LINES: Final = """
SELECT d.position, u.folder, u.provider, u.model,
       count(DISTINCT u.agent_id || '/' || u.turn_id) AS turns,
       count(*) AS calls,
       count(u.failure) AS failed_calls,
       coalesce(sum(u.input_tokens), 0) AS input_tokens,
       coalesce(sum(u.output_tokens), 0) AS output_tokens,
       coalesce(sum(u.cache_read_tokens), 0) AS cache_read_tokens,
       coalesce(sum(u.cache_write_tokens), 0) AS cache_write_tokens,
       sum(u.cost_usd) AS cost_usd,
       count(*) FILTER (WHERE u.tokens > 0 AND u.cost_usd IS NULL) AS unpriced_calls
  FROM (SELECT key AS position, value ->> 0 AS first_ms, value ->> 1 AS behind_ms
          FROM json_each(:days)) AS d
  JOIN usage AS u ON u.folder = :folder AND u.at_ms >= d.first_ms AND u.at_ms < d.behind_ms
 GROUP BY d.position, u.provider, u.model
 ORDER BY d.position, u.provider, u.model
"""
TURNS: Final = """
SELECT folder, agent_id, turn_id, min(at_ms) AS began_ms, min(provider) AS provider, count(*) AS calls,
       coalesce(sum(tokens), 0) AS tokens, sum(cost_usd) AS cost_usd
  FROM usage
 WHERE folder = :folder AND at_ms >= :since_ms
 GROUP BY agent_id, turn_id
 ORDER BY began_ms DESC, agent_id, turn_id
 LIMIT :count
"""
FOLDERS: Final = "SELECT DISTINCT folder FROM usage ORDER BY folder"
PRUNE: Final = """
DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE at_ms < :before_ms LIMIT :count)
"""


def add(tx: Transaction, call: UsedCall) -> None:
    """Keep one call."""
    tx.execute(
        ADD,
        {
            "at_ms": to_ms(call.at),
            "folder": call.group,
            "agent_id": call.agent_id,
            "turn_id": call.turn_id,
            "provider": call.provider,
            "model": call.model,
            "status": call.status,
            "failure": call.failure,
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "cache_read_tokens": call.cache_read_tokens,
            "cache_write_tokens": call.cache_write_tokens,
            "tokens": call.tokens,
            "cost_usd": call.cost_usd,
        },
    )


def turn_at(tx: Transaction, agent_id: AgentId, *, at: datetime) -> TurnId | None:
    """The agent's turn that had begun last by then."""
    row = tx.one(TURN_AT, {"agent_id": agent_id, "at_ms": to_ms(at)})
    return None if row is None else TurnId(row["turn_id"])


def spent(tx: Transaction, folder: GroupFolder, *, day: datetime, month: datetime) -> Spent:
    """What a group used since both instants."""
    row = tx.one(SPENT, _since(folder, day, month))
    assert row is not None
    return _spent(row, day, month)


async def read_spent(reader: Reader, folder: GroupFolder, *, day: datetime, month: datetime) -> Spent:
    """As `spent`, beside the writer."""
    row = await reader.one(SPENT, _since(folder, day, month))
    assert row is not None
    return _spent(row, day, month)


def _since(folder: GroupFolder, day: datetime, month: datetime) -> dict[str, object]:
    return {"folder": folder, "day_ms": to_ms(day), "month_ms": to_ms(month)}


def _spent(row: Any, day: datetime, month: datetime) -> Spent:
    return Spent(
        day=day,
        month=month,
        tokens_today=int(row["tokens_today"]),
        usd_this_month=float(row["usd_this_month"]),
        is_cost_known=row["unpriced"] == 0,
    )


async def lines(
    reader: Reader, folder: GroupFolder, days: Sequence[tuple[datetime, datetime]]
) -> list[UsageLine]:
    """A group's use by day, provider and model. days: each from its first instant to the next one's."""
    bounds = [[to_ms(first), to_ms(behind)] for first, behind in days]
    rows = await reader.all(LINES, {"folder": folder, "days": json.dumps(bounds)})
    return [_line(row, days[row["position"]][0]) for row in rows]


def _line(row: Any, first: datetime) -> UsageLine:
    return UsageLine(
        group=GroupFolder(row["folder"]),
        day=first,
        provider=row["provider"],
        model=row["model"],
        turns=row["turns"],
        calls=row["calls"],
        failed_calls=row["failed_calls"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cache_read_tokens=row["cache_read_tokens"],
        cache_write_tokens=row["cache_write_tokens"],
        cost_usd=row["cost_usd"],
        unpriced_calls=row["unpriced_calls"],
    )


async def turns(reader: Reader, folder: GroupFolder, *, since: datetime, count: int) -> list[TurnUse]:
    """A group's newest turns that used something, the newest first."""
    rows = await reader.all(TURNS, {"folder": folder, "since_ms": to_ms(since), "count": count})
    return [
        TurnUse(
            group=GroupFolder(row["folder"]),
            agent_id=AgentId(row["agent_id"]),
            turn_id=None if row["turn_id"] is None else TurnId(row["turn_id"]),
            began_at=from_ms(row["began_ms"]),
            provider=row["provider"],
            calls=row["calls"],
            tokens=row["tokens"],
            cost_usd=row["cost_usd"],
        )
        for row in rows
    ]


async def folders(reader: Reader) -> list[GroupFolder]:
    """Every group that used something, also those that are not registered any more."""
    return [GroupFolder(row["folder"]) for row in await reader.all(FOLDERS)]


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` calls that were made before; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount
