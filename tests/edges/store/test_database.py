"""The store: what is acknowledged is durable, what fails is undone, and nobody disturbs the others."""

import asyncio
import os
import random
import signal
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

from orchestrator.contracts.errors import DovecoteError, ErrorCode, Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.edges.store.conftest import SCHEMA

KILLED_WRITER = """
import asyncio, sys
from pathlib import Path
from orchestrator.store.database import Database
from tests.edges.store.conftest import SCHEMA

async def main(path):
    database = await Database.open(path, backups=path.parent / "backups", on_wake=None, migrations=SCHEMA)
    async def write(first):
        for number in range(first, 1_000_000, 40):
            await database.run(lambda tx: tx.execute("INSERT INTO notes VALUES (?, 'x', NULL)", [number]))
            print(number, flush=True)
    async with asyncio.TaskGroup() as writers:
        for first in range(40):
            writers.create_task(write(first))

asyncio.run(main(Path(sys.argv[1])))
"""


def _add(tx: Transaction, text: str) -> int:
    tx.execute("INSERT INTO notes (text) VALUES (:text)", {"text": text})
    row = tx.one("SELECT last_insert_rowid() AS id")
    assert row is not None
    return int(row["id"])


async def _texts(database: Database) -> list[str]:
    async with database.reader() as reader:
        return [row["text"] for row in await reader.all("SELECT text FROM notes ORDER BY id")]


async def test_what_run_returned_is_seen_by_another_program(database: Database, tmp_path: Path) -> None:
    note_id = await database.run(lambda tx: _add(tx, "milk"))

    with sqlite3.connect(tmp_path / "store.db") as other:
        found = other.execute("SELECT id, text FROM notes").fetchall()
    other.close()
    assert found == [(note_id, "milk")]


async def test_the_store_is_opened_to_survive_a_power_cut(database: Database) -> None:
    def settings(tx: Transaction) -> list[object]:
        return [tx.all(f"PRAGMA {name}")[0][name] for name in ("journal_mode", "synchronous", "foreign_keys")]

    assert await database.run(settings) == ["wal", 2, 1]  # 2 is FULL


async def test_an_error_in_one_body_undoes_only_what_that_body_wrote(database: Database) -> None:
    def fails(tx: Transaction) -> None:
        _add(tx, "never")
        raise ValueError("this body is wrong")

    outcomes = await asyncio.gather(
        database.run(lambda tx: _add(tx, "before")),
        database.run(fails),
        database.run(lambda tx: _add(tx, "after")),
        return_exceptions=True,
    )

    assert isinstance(outcomes[1], ValueError)
    assert await _texts(database) == ["before", "after"]


async def test_a_broken_constraint_is_the_bodys_own_error(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        await database.run(lambda tx: tx.execute("INSERT INTO notes (text) VALUES (NULL)"))

    assert await _texts(database) == []


async def test_a_body_that_raises_stop_iteration_is_reported_and_hangs_nobody(database: Database) -> None:
    def stops(tx: Transaction) -> object:
        return next(iter(()))

    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.run(stops)


async def test_bodies_run_in_the_order_of_the_calls(database: Database) -> None:
    await asyncio.gather(*(database.run(lambda tx, n=n: _add(tx, str(n))) for n in range(700)))  # type: ignore[misc]  # a default binds the number

    assert await _texts(database) == [str(n) for n in range(700)]


async def test_five_hundred_writers_at_once_share_few_commits(database: Database) -> None:
    threads: set[int] = set()

    def note(tx: Transaction) -> int:
        threads.add(threading.get_ident())
        return _add(tx, "x")

    async with asyncio.timeout(50):
        ids = await asyncio.gather(*(database.run(note) for _ in range(500)))

    assert len(set(ids)) == 500
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_a_wake_comes_after_the_commit_and_never_for_what_was_undone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    seen: list[tuple[Topic, int]] = []

    def on_wake(topic: Topic) -> None:
        with sqlite3.connect(path) as other:
            seen.append((topic, other.execute("SELECT count(*) FROM notes").fetchone()[0]))
        other.close()

    def undone(tx: Transaction) -> None:
        tx.wake(Topic.WORK)
        raise ValueError

    def done(tx: Transaction) -> None:
        _add(tx, "milk")
        tx.wake(Topic.OUTBOX)
        tx.wake(Topic.OUTBOX)

    database = await Database.open(path, backups=tmp_path, on_wake=on_wake, migrations=SCHEMA)
    await asyncio.gather(database.run(undone), database.run(done), return_exceptions=True)
    await database.close()

    assert seen == [(Topic.OUTBOX, 1)]


async def test_a_cancelled_caller_leaves_the_store_whole_and_the_others_served(database: Database) -> None:
    chance = random.Random(7)
    outcomes: dict[int, bool] = {}

    async def note(number: int) -> None:
        await database.run(lambda tx: _add(tx, str(number)))
        outcomes[number] = True

    async with asyncio.TaskGroup() as tasks:
        callers = [tasks.create_task(note(number)) for number in range(2_000)]
        for caller in chance.sample(callers, 300):
            await asyncio.sleep(0)
            caller.cancel()

    acknowledged = {str(number) for number in outcomes}
    assert len(acknowledged) >= 1_700
    assert acknowledged <= set(await _texts(database))


async def test_close_finishes_what_is_queued_and_refuses_what_comes_after(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = await Database.open(path, backups=tmp_path, on_wake=None, migrations=SCHEMA)
    async with asyncio.TaskGroup() as writers:
        queued = [writers.create_task(database.run(lambda tx: _add(tx, "x"))) for _ in range(400)]
        await asyncio.sleep(0)
        await database.close()
    await database.close()

    with pytest.raises(Unavailable) as refusal:
        await database.run(lambda tx: _add(tx, "late"))
    with pytest.raises(Unavailable):
        async with database.reader():
            pass
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM notes").fetchone() == (len(queued),)
    other.close()
    assert refusal.value.code is ErrorCode.STORE_UNAVAILABLE


async def test_readers_see_committed_states_only_and_never_wait_for_the_writer(database: Database) -> None:
    def add_pair(tx: Transaction) -> None:
        _add(tx, "a")
        _add(tx, "b")

    async def write() -> None:
        for _ in range(200):
            await database.run(add_pair)

    counts: list[int] = []

    async def read() -> None:
        while not counts or counts[-1] < 400:
            async with database.reader() as reader:
                row = await reader.one("SELECT count(*) AS n FROM notes")
                assert row is not None
                counts.append(row["n"])

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(read())
        tasks.create_task(write())

    assert all(count % 2 == 0 for count in counts)


async def test_a_reader_cannot_write(database: Database) -> None:
    async with database.reader() as reader:
        with pytest.raises(Unavailable, match="readonly"):
            await reader.all("INSERT INTO notes (text) VALUES ('x') RETURNING id")

    assert await _texts(database) == []


async def test_a_query_takes_named_parameters(database: Database) -> None:
    await database.run(lambda tx: _add(tx, "milk"))

    async with database.reader() as reader:
        row = await reader.one("SELECT id FROM notes WHERE text = :text", {"text": "milk"})
        none = await reader.one("SELECT id FROM notes WHERE text = :text", {"text": "bread"})

    assert row is not None
    assert row["id"] == 1
    assert none is None


async def test_on_a_full_disk_nothing_is_acknowledged_and_the_store_works_when_there_is_room(
    small_disk: Path,
) -> None:
    database = await Database.open(
        small_disk / "store.db", backups=small_disk, on_wake=None, migrations=SCHEMA
    )
    await database.run(lambda tx: _add(tx, "kept"))
    filler = small_disk / "filler"
    filler.write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize - 65_536))

    def add_much(tx: Transaction) -> None:
        tx.execute("INSERT INTO notes (text, pad) VALUES ('much', zeroblob(300000))")

    outcomes = await asyncio.gather(*(database.run(add_much) for _ in range(5)), return_exceptions=True)
    filler.unlink()
    await database.run(lambda tx: _add(tx, "later"))
    texts = await _texts(database)
    await database.close()

    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 5
    assert texts == ["kept", "later"]


async def test_a_body_that_swallows_the_disks_error_commits_nothing(database: Database) -> None:
    def swallows(tx: Transaction) -> None:
        _add(tx, "half")
        tx.execute("ROLLBACK")  # what SQLite does by itself on a full disk
        with pytest.raises(sqlite3.OperationalError, match="undone"):
            _add(tx, "rest")

    outcomes = await asyncio.gather(
        database.run(lambda tx: _add(tx, "neighbour")), database.run(swallows), return_exceptions=True
    )
    await database.run(lambda tx: _add(tx, "later"))

    assert isinstance(outcomes[1], Unavailable)
    acknowledged = ["neighbour"] if isinstance(outcomes[0], int) else []
    assert await _texts(database) == [*acknowledged, "later"]


async def test_a_commit_that_fails_is_told_to_every_member_and_the_next_works(tmp_path: Path) -> None:
    schema = (
        *SCHEMA,
        type(SCHEMA[0])(
            number=2,
            name="late",
            sql="CREATE TABLE late (note INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED) STRICT;",
        ),
    )
    database = await Database.open(tmp_path / "store.db", backups=tmp_path, on_wake=None, migrations=schema)

    with pytest.raises(Unavailable):
        await database.run(lambda tx: tx.execute("INSERT INTO late VALUES (99)"))
    await database.run(lambda tx: _add(tx, "next"))

    assert await _texts(database) == ["next"]
    await database.close()


async def test_killed_in_the_middle_of_commits_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_WRITER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    acknowledged = [int(await writer.stdout.readline()) for _ in range(1_000)]
    writer.send_signal(signal.SIGKILL)
    rest = await writer.stdout.read()
    await writer.wait()
    acknowledged += [int(line) for line in rest.split(b"\n")[:-1]]

    database = await Database.open(path, backups=tmp_path, on_wake=None, migrations=SCHEMA)
    async with database.reader() as reader:
        stored = {row["id"] for row in await reader.all("SELECT id FROM notes")}
        check = await reader.one("PRAGMA integrity_check")
    await database.close()

    assert set(acknowledged) <= stored
    assert len(stored) - len(acknowledged) <= 40  # each writer waits for one
    assert check is not None
    assert check[0] == "ok"


async def test_a_file_that_is_no_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"this is not a database, but it is long enough to look" * 100)

    with pytest.raises(DovecoteError) as refusal:
        await Database.open(tmp_path / "store.db", backups=tmp_path, on_wake=None, migrations=SCHEMA)

    assert refusal.value.code is ErrorCode.STORE_UNAVAILABLE
    assert "store.db" in refusal.value.message
    assert "data/backups" in (refusal.value.suggestion or "")


async def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE photos (id INTEGER)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(DovecoteError, match="another program"):
        await Database.open(path, backups=tmp_path, on_wake=None, migrations=SCHEMA)

    assert path.read_bytes() == before


@pytest.mark.parametrize("place", ["missing/store.db", "."], ids=["folder missing", "a directory"])
async def test_a_place_that_cannot_hold_a_store_is_refused_by_name(tmp_path: Path, place: str) -> None:
    with pytest.raises(DovecoteError, match="cannot be opened"):
        await Database.open(tmp_path / place, backups=tmp_path, on_wake=None, migrations=SCHEMA)


def _modes(folder: Path, pattern: str) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob(pattern)}


async def test_the_stores_files_are_for_their_owner_only(database: Database, tmp_path: Path) -> None:
    await database.run(lambda tx: _add(tx, "x"))

    modes = _modes(tmp_path, "store.db*")
    assert set(modes.values()) == {0o600}
    assert "store.db-wal" in modes
