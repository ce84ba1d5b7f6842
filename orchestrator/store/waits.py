"""Who is held until another agent is ready or has ended."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import WaitFor
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO waits (waiter, awaited, wanted, created_ms) VALUES (:waiter, :awaited, :wanted, :at_ms)
ON CONFLICT (waiter, awaited) DO UPDATE SET wanted = :wanted
"""
OF_WAITER: Final = "SELECT * FROM waits WHERE waiter = :agent_id"
ALL: Final = "SELECT * FROM waits ORDER BY created_ms"
MEET: Final = "DELETE FROM waits WHERE awaited = :agent_id RETURNING waiter"
MEET_READY: Final = "DELETE FROM waits WHERE awaited = :agent_id AND wanted = 'ready' RETURNING waiter"
END_OF_WAITER: Final = "DELETE FROM waits WHERE waiter = :agent_id"
END_OF_CALLS: Final = "DELETE FROM waits WHERE awaited IN (SELECT agent_id FROM spawns WHERE wait = 'none')"
DROP: Final = "DELETE FROM waits WHERE waiter = :waiter AND awaited = :awaited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One edge of who waits for whom."""

    waiter: AgentId
    awaited: AgentId
    wanted: WaitFor


def add(tx: Transaction, wait: Wait, *, at: datetime) -> None:
    """The waiter is held from now on."""
    tx.execute(
        ADD,
        {
            "waiter": wait.waiter,
            "awaited": wait.awaited,
            "wanted": wait.wanted.value,
            "at_ms": to_ms(at),
        },
    )


def of_waiter(tx: Transaction, agent_id: AgentId) -> list[Wait]:
    """What an agent waits for."""
    return [_wait(row) for row in tx.all(OF_WAITER, {"agent_id": agent_id})]


def all_waits(tx: Transaction) -> list[Wait]:
    """Every open wait, oldest first."""
    return [_wait(row) for row in tx.all(ALL, {})]


def meet(tx: Transaction, agent_id: AgentId, *, only_ready: bool) -> list[AgentId]:
    """Let those go on who waited for this agent; who they are. only_ready: not those who want its result."""
    rows = tx.all(MEET_READY if only_ready else MEET, {"agent_id": agent_id})
    return [AgentId(row["waiter"]) for row in rows]


def end_of_waiter(tx: Transaction, agent_id: AgentId) -> bool:
    """An agent waits for nothing any more: its turn, or it, has ended. Whether it had waited."""
    return tx.execute(END_OF_WAITER, {"agent_id": agent_id}).rowcount > 0


def end_of_calls(tx: Transaction) -> None:
    """End what was waited for by calls, which no process outlives; who asked by its box waits on."""
    tx.execute(END_OF_CALLS, {})


def drop(tx: Transaction, waiter: AgentId, awaited: AgentId) -> None:
    """One wait is given up."""
    tx.execute(DROP, {"waiter": waiter, "awaited": awaited})


def _wait(row: sqlite3.Row) -> Wait:
    return Wait(waiter=AgentId(row["waiter"]), awaited=AgentId(row["awaited"]), wanted=WaitFor(row["wanted"]))
