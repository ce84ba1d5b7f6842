"""Every version that there ever was is brought up to date with all its rows, after a copy of it."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.store.migrate import migrate, schema_version, shipped_migrations
from orchestrator.store.opening import open_store
from tests.support.old_stores import kept_versions, lay_old_store, made_at

KEPT = kept_versions()
NEWEST = len(shipped_migrations())
RENAMED = {("agents", "driver"): "provider", ("sessions", "driver"): "provider"}
"""Columns that a migration calls otherwise: 0006."""

Rows = Mapping[str, list[dict[str, object]]]


def _rows(store: sqlite3.Connection) -> Rows:
    store.row_factory = sqlite3.Row
    names = store.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    tables = sorted(str(row["name"]) for row in names if not str(row["name"]).startswith("sqlite_schema"))
    return {
        table: [_renamed(table, dict(row)) for row in store.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2')]
        for table in tables
    }


def _renamed(table: str, row: dict[str, object]) -> dict[str, object]:
    return {RENAMED.get((table, name), name): value for name, value in row.items()}


def _rows_of(path: Path) -> Rows:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
        return _rows(store)


def test_every_version_but_the_newest_is_kept() -> None:
    assert set(range(1, NEWEST)) - KEPT.keys() == set(), "run: python -m tests.support.old_stores"


@pytest.mark.parametrize("version", KEPT)
def test_the_migrations_still_lead_to_what_a_version_was(tmp_path: Path, version: int) -> None:
    lay_old_store(tmp_path / "store.db", KEPT[version].read_text("utf-8"))

    with closing(made_at(version, shipped_migrations())) as made:
        assert _rows(made) == _rows_of(tmp_path / "store.db"), "a migration that homes have taken was changed"


@pytest.mark.parametrize("version", KEPT)
def test_j9_a_store_of_an_earlier_version_keeps_its_rows_and_is_copied_first(
    tmp_path: Path, version: int
) -> None:
    path, backups = tmp_path / "store.db", tmp_path / "backups"
    lay_old_store(path, KEPT[version].read_text("utf-8"))
    before = _rows_of(path)

    with closing(open_store(path, cached_statements=1)) as store:
        store.execute("PRAGMA synchronous = OFF")  # nobody cuts the power here, and waiting for it adds up
        migrate(store, path=path, backups=backups, migrations=shipped_migrations())
        assert store.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert schema_version(store) == NEWEST
        after = _rows(store)

    for table, rows in before.items():
        kept = [{name: now[name] for name in was} for was, now in zip(rows, after[table], strict=True)]
        assert kept == rows, table
    if version < NEWEST:
        assert _rows_of(backups / f"dovecote-v{version}.db") == before


def test_every_table_of_the_newest_version_has_rows_to_keep() -> None:
    with closing(made_at(NEWEST, shipped_migrations())) as store:
        empty = [table for table, rows in _rows(store).items() if not rows]

    assert empty == [], "add a row to tests/data/stores/rows/NNNN.sql"
