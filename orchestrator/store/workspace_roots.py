"""Directories of the host that spawned agents may be given as workspaces, beside those in the settings."""

import sqlite3
from datetime import datetime
from typing import Final

from orchestrator.contracts.records.spawns import RootStatus, WorkspaceRoot
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

PROPOSE: Final = """
INSERT INTO workspace_roots (path, status, proposed_by, proposed_ms)
VALUES (:path, :status, :proposed_by, :at_ms)
ON CONFLICT (path) DO UPDATE
   SET status = :status, proposed_by = :proposed_by, proposed_ms = :at_ms, decided_ms = NULL
 WHERE status = 'rejected'
RETURNING *
"""
GET: Final = "SELECT * FROM workspace_roots WHERE path = :path"
ALL: Final = "SELECT * FROM workspace_roots ORDER BY path"
COUNT_PROPOSED: Final = "SELECT count(*) AS n FROM workspace_roots WHERE status = 'proposed'"
APPROVED: Final = "SELECT path FROM workspace_roots WHERE status = 'approved' ORDER BY path"
MOVE: Final = """
UPDATE workspace_roots SET status = :now, decided_ms = :at_ms WHERE path = :path AND status = :was
"""
REMOVE: Final = "DELETE FROM workspace_roots WHERE path = :path"


def propose(tx: Transaction, path: str, *, by: str, status: RootStatus, at: datetime) -> bool:
    """Remember a wish for a directory; False if it is known and was not turned down."""
    parameters = {"path": path, "status": status.value, "proposed_by": by, "at_ms": to_ms(at)}
    return tx.one(PROPOSE, parameters) is not None


def get(tx: Transaction, path: str) -> WorkspaceRoot | None:
    """One of them."""
    row = tx.one(GET, {"path": path})
    return None if row is None else _root(row)


def count_proposed(tx: Transaction) -> int:
    """How many wait for an operator."""
    row = tx.one(COUNT_PROPOSED)
    return 0 if row is None else int(row["n"])


def approved(tx: Transaction) -> list[str]:
    """Those that agents may be given."""
    return [row["path"] for row in tx.all(APPROVED)]


async def listed(reader: Reader) -> list[WorkspaceRoot]:
    """All of them, by path."""
    return [_root(row) for row in await reader.all(ALL)]


def move(tx: Transaction, root: WorkspaceRoot, *, now: RootStatus, at: datetime) -> bool:
    """Change the status, if it still is that of `root`."""
    parameters = {"path": root.path, "was": root.status.value, "now": now.value, "at_ms": to_ms(at)}
    return tx.execute(MOVE, parameters).rowcount == 1


def remove(tx: Transaction, path: str) -> bool:
    """Forget one; False if it is unknown."""
    return tx.execute(REMOVE, {"path": path}).rowcount == 1


def _root(row: sqlite3.Row) -> WorkspaceRoot:
    return WorkspaceRoot(
        path=row["path"],
        status=RootStatus(row["status"]),
        proposed_by=row["proposed_by"],
        proposed_at=from_ms(row["proposed_ms"]),
        decided_at=maybe_from_ms(row["decided_ms"]),
    )
