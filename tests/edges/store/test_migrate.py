"""The schema goes forward only, a copy first, and a step that fails changes nothing."""

import os
import sqlite3
from pathlib import Path

import pytest

from orchestrator.contracts.errors import DovecoteError
from orchestrator.store.database import Database
from orchestrator.store.migrate import Migration, shipped_migrations

ONE = Migration(number=1, name="notes", sql="CREATE TABLE notes (text TEXT) STRICT;")
TWO = Migration(
    number=2, name="tags", sql="ALTER TABLE notes ADD COLUMN tag TEXT;\nUPDATE notes SET tag = 'old'"
)
THREE_BROKEN = Migration(
    number=3, name="broken", sql="CREATE TABLE more (id INTEGER) STRICT; INSERT INTO nowhere VALUES (1);"
)


async def _open(home: Path, *steps: Migration) -> None:
    database = await Database.open(
        home / "store.db", backups=home / "backups", on_wake=None, migrations=steps
    )
    if len(steps) == 1:
        await database.run(lambda tx: tx.execute("INSERT INTO notes (text) VALUES ('milk')"))
    await database.close()


def _look(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


async def test_the_shipped_steps_make_strict_tables_from_an_empty_file(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None)
    await database.close()

    tables = _look(tmp_path / "store.db", "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'")
    strict = {name: is_strict for name, is_strict in tables if not str(name).startswith("sqlite_")}
    assert {"messages", "outbox", "requests", "groups"} <= set(strict)
    assert set(strict.values()) == {1}
    assert _look(tmp_path / "store.db", "PRAGMA user_version") == [(len(shipped_migrations()),)]


async def test_a_new_store_is_not_copied_first(tmp_path: Path) -> None:
    await _open(tmp_path, ONE)

    assert not (tmp_path / "backups").exists()


async def test_before_a_step_the_store_is_copied_and_then_keeps_its_rows(tmp_path: Path) -> None:
    await _open(tmp_path, ONE)
    await _open(tmp_path, ONE, TWO)

    assert _look(tmp_path / "store.db", "SELECT text, tag FROM notes") == [("milk", "old")]
    copy = tmp_path / "backups" / "dovecote-v1.db"
    assert _look(copy, "SELECT * FROM notes") == [("milk",)]
    assert _look(copy, "PRAGMA user_version") == [(1,)]
    assert [path.name for path in copy.parent.iterdir()] == ["dovecote-v1.db"]
    assert copy.stat().st_mode & 0o777 == 0o600


async def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    await _open(tmp_path, ONE)

    with pytest.raises(DovecoteError, match="schema version 3") as refusal:
        await _open(tmp_path, ONE, TWO, THREE_BROKEN)

    assert "unchanged at version 2" in refusal.value.message
    assert _look(tmp_path / "store.db", "PRAGMA user_version") == [(2,)]
    assert _look(tmp_path / "store.db", "SELECT name FROM sqlite_schema WHERE name = 'more'") == []


async def test_a_step_that_orphans_rows_is_undone(tmp_path: Path) -> None:
    orphan = Migration(
        number=2,
        name="orphan",
        sql="CREATE TABLE tags (note INTEGER REFERENCES notes (rowid)) STRICT; INSERT INTO tags VALUES (99);",
    )
    await _open(tmp_path, ONE)

    with pytest.raises(DovecoteError, match="schema version 2"):
        await _open(tmp_path, ONE, orphan)

    assert _look(tmp_path / "store.db", "PRAGMA user_version") == [(1,)]


async def test_a_newer_schema_is_refused_naming_both_versions_and_left_alone(tmp_path: Path) -> None:
    await _open(tmp_path, ONE, TWO)
    before = (tmp_path / "store.db").read_bytes()

    with pytest.raises(DovecoteError) as refusal:
        await _open(tmp_path, ONE)

    assert "version 2" in refusal.value.message
    assert "up to 1" in refusal.value.message
    assert refusal.value.suggestion
    assert (tmp_path / "store.db").read_bytes() == before


async def test_when_the_copy_cannot_be_made_nothing_is_changed(tmp_path: Path) -> None:
    await _open(tmp_path, ONE)
    (tmp_path / "backups").write_text("a file in the place of the directory")

    with pytest.raises(DovecoteError, match="Nothing was changed"):
        await _open(tmp_path, ONE, TWO)

    assert _look(tmp_path / "store.db", "PRAGMA user_version") == [(1,)]


async def test_a_full_disk_during_the_copy_leaves_store_and_backups_as_they_were(
    tmp_path: Path, small_disk: Path
) -> None:
    await _open(tmp_path, ONE)
    filled = sqlite3.connect(tmp_path / "store.db")
    filled.execute("INSERT INTO notes SELECT hex(zeroblob(2000000))")
    filled.commit()
    filled.close()

    with pytest.raises(DovecoteError, match="Nothing was changed"):
        await Database.open(tmp_path / "store.db", backups=small_disk, on_wake=None, migrations=(ONE, TWO))

    assert os.listdir(small_disk) == []
    assert _look(tmp_path / "store.db", "PRAGMA user_version") == [(1,)]
