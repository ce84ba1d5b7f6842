"""Wishes of agents that an operator has to confirm."""

import sqlite3
from datetime import datetime
from typing import Final

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.proposals import Proposal, ProposalStatus
from orchestrator.contracts.records.rights import Rights
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO proposals (agent_id, box, folder, chat_jid, command, request, rights, effect, status,
                       created_ms, expires_ms)
VALUES (:agent_id, :box, :folder, :chat_jid, :command, :request, :rights, :effect, :status,
        :created_ms, :expires_ms)
RETURNING *
"""
GET: Final = "SELECT * FROM proposals WHERE number = :number"
OPEN_OF_GROUP: Final = """
SELECT * FROM proposals WHERE folder = :folder AND status = 'open' ORDER BY number
"""
OPEN: Final = "SELECT * FROM proposals WHERE status = 'open' ORDER BY number"
LISTED: Final = "SELECT * FROM proposals ORDER BY status = 'open' DESC, number DESC LIMIT :count"
DECLINED_SINCE: Final = """
SELECT * FROM proposals
 WHERE folder = :folder AND command = :command AND request = :request
   AND status = 'declined' AND ended_ms >= :since_ms
 ORDER BY number DESC LIMIT 1
"""
LAPSED: Final = """
SELECT * FROM proposals INDEXED BY proposals_open
 WHERE status = 'open' AND expires_ms <= :now_ms ORDER BY number
"""
MOVE: Final = """
UPDATE proposals SET status = :now, ended_ms = :at_ms, error = :error
 WHERE number = :number AND status = :was
"""
PRUNE: Final = """
DELETE FROM proposals
 WHERE number IN (SELECT number FROM proposals WHERE ended_ms < :before_ms LIMIT :count)
"""


def add(
    tx: Transaction,
    *,
    caller: AgentCaller,
    command: str,
    request: str,
    rights: Rights,
    effect: str,
    status: ProposalStatus,
    at: datetime,
    expires_at: datetime,
) -> Proposal:
    """Remember a new one; it gets its number."""
    row = tx.one(
        ADD,
        {
            "agent_id": caller.agent_id,
            "box": caller.box,
            "folder": caller.group,
            "chat_jid": caller.chat_jid,
            "command": command,
            "request": request,
            "rights": rights.value,
            "effect": effect,
            "status": status.value,
            "created_ms": to_ms(at),
            "expires_ms": to_ms(expires_at),
        },
    )
    assert row is not None
    return _proposal(row)


def get(tx: Transaction, number: int) -> Proposal | None:
    """One of them."""
    row = tx.one(GET, {"number": number})
    return None if row is None else _proposal(row)


def open_of_group(tx: Transaction, folder: GroupFolder) -> list[Proposal]:
    """What agents of a group wait for, oldest first."""
    return [_proposal(row) for row in tx.all(OPEN_OF_GROUP, {"folder": folder})]


def all_open(tx: Transaction) -> list[Proposal]:
    """What waits for an operator, oldest first."""
    return [_proposal(row) for row in tx.all(OPEN, {})]


def declined_since(
    tx: Transaction, folder: GroupFolder, command: str, request: str, *, since: datetime
) -> Proposal | None:
    """The same wish of a group that an operator said no to, if he did so since then."""
    wanted = {"folder": folder, "command": command, "request": request, "since_ms": to_ms(since)}
    row = tx.one(DECLINED_SINCE, wanted)
    return None if row is None else _proposal(row)


def lapsed(tx: Transaction, *, now: datetime) -> list[Proposal]:
    """Open ones whose time is over."""
    return [_proposal(row) for row in tx.all(LAPSED, {"now_ms": to_ms(now)})]


def move(
    tx: Transaction, proposal: Proposal, *, now: ProposalStatus, at: datetime, error: str | None = None
) -> bool:
    """Change the status if it still is what `proposal` says."""
    changed = tx.execute(
        MOVE,
        {
            "number": proposal.number,
            "was": proposal.status.value,
            "now": now.value,
            "at_ms": to_ms(at),
            "error": error,
        },
    )
    return changed.rowcount == 1


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` that were decided before `before`; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


async def listed(reader: Reader, *, count: int) -> list[Proposal]:
    """What waits, then what is decided; each the newest first."""
    return [_proposal(row) for row in await reader.all(LISTED, {"count": count})]


def _proposal(row: sqlite3.Row) -> Proposal:
    return Proposal(
        number=row["number"],
        agent_id=AgentId(row["agent_id"]),
        box=BoxName(row["box"]),
        group=GroupFolder(row["folder"]),
        chat_jid=Jid(row["chat_jid"]),
        command=row["command"],
        request=row["request"],
        rights=Rights(row["rights"]),
        effect=row["effect"],
        status=ProposalStatus(row["status"]),
        created_at=from_ms(row["created_ms"]),
        expires_at=from_ms(row["expires_ms"]),
        ended_at=maybe_from_ms(row["ended_ms"]),
        error=row["error"],
    )
