"""Stores as earlier versions left them: one of each schema version, with rows in every table it had.

`python -m tests.support.old_stores` writes those that are missing in tests/data/stores; what is there stays
as it was. Each is made by the migrations up to its version, and was given the rows of `rows/NNNN.sql` after
each step, as a home that was upgraded again and again. The newest version is not kept: it may still change.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.store.migrate import Migration, shipped_migrations
from orchestrator.store.opening import APPLICATION_ID

STORES: Final = Path(__file__).parents[1] / "data" / "stores"


def made_at(version: int, steps: Sequence[Migration]) -> sqlite3.Connection:
    """A store in memory that has taken so many steps."""
    store = sqlite3.connect(":memory:", isolation_level=None)
    store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for step in steps[:version]:
        store.executescript(step.sql)
        rows = STORES / "rows" / f"{step.number:04}.sql"
        if rows.exists():
            store.executescript(rows.read_text("utf-8"))
    store.execute(f"PRAGMA user_version = {version}")
    return store


def kept_versions() -> dict[int, Path]:
    """The stores that are kept, by their version."""
    return {int(path.stem.removeprefix("v")): path for path in sorted(STORES.glob("v*.sql"))}


def lay_old_store(path: Path, text: str) -> None:
    """A file as that version left it."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.executescript(text)


def main() -> None:
    """Write those that are missing."""
    STORES.mkdir(parents=True, exist_ok=True)
    steps = shipped_migrations()
    for version in range(1, len(steps)):
        path = STORES / f"v{version:04}.sql"
        if not path.exists():
            with contextlib.closing(made_at(version, steps)) as store:
                head = [f"PRAGMA application_id = {APPLICATION_ID};", f"PRAGMA user_version = {version};"]
                path.write_text("\n".join([*head, *store.iterdump()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
