"""Effects that wait for an operator's word."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder
from orchestrator.store.database import Transaction
from orchestrator.store.times import from_ms, to_ms


class ProposalStatus(StrEnum):
    """The life of a proposal."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A request that somebody without the right caused. request: its JSON. number: what `/yes` names."""

    number: int
    group: GroupFolder
    box: BoxName
    agent_id: AgentId
    type_name: str
    request: str
    status: ProposalStatus
    created_at: datetime


ADD: Final = """
INSERT INTO proposals (folder, box, request, type_name, agent_id, status, created_ms)
VALUES (:folder, :box, :request, :type_name, :agent_id, 'open', :at_ms)
RETURNING *
"""
GET: Final = "SELECT * FROM proposals WHERE number = :number"
COUNT_OPEN: Final = "SELECT count(*) AS n FROM proposals WHERE folder = :folder AND status = 'open'"
DECIDE: Final = """
UPDATE proposals SET status = :now, decided_ms = :at_ms, decided_by = :by
 WHERE number = :number AND status = 'open'
"""
EXPIRE: Final = """
UPDATE proposals SET status = 'expired', decided_ms = :at_ms
 WHERE status = 'open' AND created_ms < :before_ms
RETURNING *
"""


def add(
    tx: Transaction,
    *,
    group: GroupFolder,
    box: BoxName,
    agent_id: AgentId,
    type_name: str,
    request: str,
    at: datetime,
) -> Proposal:
    """Remember what is asked for."""
    row = tx.one(
        ADD,
        {
            "folder": group,
            "box": box,
            "request": request,
            "type_name": type_name,
            "agent_id": agent_id,
            "at_ms": to_ms(at),
        },
    )
    assert row is not None
    return _proposal(row)


def get(tx: Transaction, number: int) -> Proposal | None:
    """One proposal."""
    row = tx.one(GET, {"number": number})
    return None if row is None else _proposal(row)


def count_open(tx: Transaction, group: GroupFolder) -> int:
    """How many of a group wait for a word."""
    row = tx.one(COUNT_OPEN, {"folder": group})
    return 0 if row is None else int(row["n"])


def decide(tx: Transaction, number: int, *, now: ProposalStatus, by: str, at: datetime) -> bool:
    """Write the word down; False if it is not open any more."""
    changed = tx.execute(DECIDE, {"number": number, "now": now.value, "by": by, "at_ms": to_ms(at)})
    return changed.rowcount == 1


def expire(tx: Transaction, *, before: datetime, at: datetime) -> list[Proposal]:
    """Close what has waited since before that instant."""
    return [_proposal(row) for row in tx.all(EXPIRE, {"before_ms": to_ms(before), "at_ms": to_ms(at)})]


def _proposal(row: sqlite3.Row) -> Proposal:
    return Proposal(
        number=row["number"],
        group=GroupFolder(row["folder"]),
        box=BoxName(row["box"]),
        agent_id=AgentId(row["agent_id"]),
        type_name=row["type_name"],
        request=row["request"],
        status=ProposalStatus(row["status"]),
        created_at=from_ms(row["created_ms"]),
    )
