"""Session tokens that were given out, by their fingerprints."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO tokens (fingerprint, agent_id, tree_id, issued_ms, expires_ms)
VALUES (:fingerprint, :agent_id, :tree_id, :issued_ms, :expires_ms)
"""
GET: Final = "SELECT * FROM tokens WHERE fingerprint = :fingerprint"
REVOKE: Final = """
UPDATE tokens SET revoked_ms = :at_ms
 WHERE agent_id IN (SELECT value FROM json_each(:agent_ids)) AND revoked_ms IS NULL
"""
NEWEST_OF_LIVE: Final = """
SELECT agent_id, max(issued_ms) AS issued_ms, expires_ms
  FROM tokens
 WHERE revoked_ms IS NULL
 GROUP BY agent_id
"""
PRUNE: Final = "DELETE FROM tokens WHERE expires_ms < :before_ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """What the store knows of a token. revoked_at: None while nobody took it back."""

    fingerprint: bytes
    agent_id: AgentId
    tree_id: TreeId
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldToken:
    """The newest token that an agent holds, as far as its time goes."""

    agent_id: AgentId
    issued_at: datetime
    expires_at: datetime


def add(tx: Transaction, token: IssuedToken) -> None:
    """Remember a token before it is given out."""
    tx.execute(
        ADD,
        {
            "fingerprint": token.fingerprint,
            "agent_id": token.agent_id,
            "tree_id": token.tree_id,
            "issued_ms": to_ms(token.issued_at),
            "expires_ms": to_ms(token.expires_at),
        },
    )


def get(tx: Transaction, fingerprint: bytes) -> IssuedToken | None:
    """The token of that fingerprint; None if none was given out, or long ago."""
    row = tx.one(GET, {"fingerprint": fingerprint})
    if row is None:
        return None
    return IssuedToken(
        fingerprint=row["fingerprint"],
        agent_id=AgentId(row["agent_id"]),
        tree_id=TreeId(row["tree_id"]),
        issued_at=from_ms(row["issued_ms"]),
        expires_at=from_ms(row["expires_ms"]),
        revoked_at=maybe_from_ms(row["revoked_ms"]),
    )


def revoke(tx: Transaction, agent_ids: Iterable[AgentId], *, at: datetime) -> None:
    """Take back every token of these agents: from this commit on none is good."""
    tx.execute(REVOKE, {"agent_ids": json.dumps(list(agent_ids)), "at_ms": to_ms(at)})


def held(tx: Transaction) -> list[HeldToken]:
    """Of each agent that was given a token and keeps it: the newest."""
    return [
        HeldToken(
            agent_id=AgentId(row["agent_id"]),
            issued_at=from_ms(row["issued_ms"]),
            expires_at=from_ms(row["expires_ms"]),
        )
        for row in tx.all(NEWEST_OF_LIVE)
    ]


def prune(tx: Transaction, *, before: datetime) -> None:
    """Forget tokens whose time was over by then."""
    tx.execute(PRUNE, {"before_ms": to_ms(before)})
