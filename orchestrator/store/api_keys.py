"""Named keys of programs outside, by their fingerprints."""

import json
import sqlite3
from typing import Final

from orchestrator.contracts.records.tokens import ApiKey, Scope
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO api_keys (name, fingerprint, scopes, created_ms)
VALUES (:name, :fingerprint, :scopes, :created_ms)
ON CONFLICT (name) DO NOTHING
"""
BY_FINGERPRINT: Final = "SELECT * FROM api_keys WHERE fingerprint = :fingerprint"
ALL: Final = "SELECT * FROM api_keys ORDER BY name"
REMOVE: Final = "DELETE FROM api_keys WHERE name = :name"


def add(tx: Transaction, key: ApiKey, fingerprint: bytes) -> bool:
    """Remember a key; False if there is one of that name."""
    added = tx.execute(
        ADD,
        {
            "name": key.name,
            "fingerprint": fingerprint,
            "scopes": json.dumps(sorted(key.scopes)),
            "created_ms": to_ms(key.created_at),
        },
    )
    return added.rowcount == 1


def remove(tx: Transaction, name: str) -> bool:
    """Forget a key, which is no longer good then; False if there is none of that name."""
    return tx.execute(REMOVE, {"name": name}).rowcount == 1


async def find(reader: Reader, fingerprint: bytes) -> ApiKey | None:
    """The key of that fingerprint."""
    row = await reader.one(BY_FINGERPRINT, {"fingerprint": fingerprint})
    return None if row is None else _key(row)


async def list_keys(reader: Reader) -> list[ApiKey]:
    """Every key, by name."""
    return [_key(row) for row in await reader.all(ALL)]


def _key(row: sqlite3.Row) -> ApiKey:
    scopes = frozenset(Scope(each) for each in json.loads(row["scopes"]))
    return ApiKey(name=row["name"], scopes=scopes, created_at=from_ms(row["created_ms"]))
