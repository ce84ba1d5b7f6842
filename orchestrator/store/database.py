"""The store's floor: one writer thread that commits in groups, and readers apart.

A body is a plain function of a `Transaction`, so no await can stand between a decision and its write.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import aiosqlite

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.store.failures import is_storage_failure, unavailable
from orchestrator.store.migrate import Migration, migrate, shipped_migrations
from orchestrator.store.opening import open_store
from orchestrator.store.transaction import Parameters, Transaction
from orchestrator.store.views import Views, read_only_uri

T = TypeVar("T")

MAX_GROUP: Final = 300
"""Bodies that share one commit; more would make the first of them wait too long."""
READERS: Final = 2
CACHED_STATEMENTS: Final = 512


class Reader:
    """A read-only connection. Each query sees the newest committed state."""

    __slots__ = ("_connection",)

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def one(self, sql: str, params: Parameters = ()) -> sqlite3.Row | None:
        """The first row, or None. Raises Unavailable when the store cannot be read."""
        rows = await self.all(sql, params)
        return rows[0] if rows else None

    async def all(self, sql: str, params: Parameters = ()) -> list[sqlite3.Row]:
        """Every row. Raises Unavailable when the store cannot be read."""
        try:
            return list(await self._connection.execute_fetchall(sql, params))
        except sqlite3.Error as error:
            if is_storage_failure(error):
                raise unavailable("read", error) from error
            raise


class _Job:
    """One body with the future of the caller who waits for it."""

    __slots__ = ("body", "error", "future", "result", "topics")

    def __init__(self, body: Callable[[Transaction], Any], future: "asyncio.Future[Any]") -> None:
        self.body = body
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None
        self.topics: list[Topic] = []


class Database:
    """The store. Made by `open`; `run` writes, `reader` and `view` read, `close` waits for what is queued."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        readers: Sequence[aiosqlite.Connection],
        views: Views,
        on_wake: Callable[[Topic], None] | None,
    ) -> None:
        self._connection = connection
        self._on_wake = on_wake
        self._loop = asyncio.get_running_loop()
        self._executor = ThreadPoolExecutor(1, "store")
        self._lock = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._is_working = False
        self._is_closed = False
        self._readers = readers
        self._views = views
        self._free_readers: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        for reader in readers:
            self._free_readers.put_nowait(reader)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        backups: Path,
        on_wake: Callable[[Topic], None] | None,
        migrations: Sequence[Migration] | None = None,
    ) -> Self:
        """Open the store at `path`, brought up to this version's schema; a new file if there is none.

        backups: where a copy goes before a store that holds something is migrated.
        on_wake: called on this loop's thread after a commit, once a topic and group.
        migrations: instead of the shipped ones. Raises DovecoteError, saying what to do.
        """
        steps = shipped_migrations() if migrations is None else migrations

        def prepare() -> sqlite3.Connection:
            connection = open_store(path, cached_statements=CACHED_STATEMENTS)
            try:
                migrate(connection, path=path, backups=backups, migrations=steps)
            except BaseException:
                connection.close()
                raise
            return connection

        connection = await asyncio.to_thread(prepare)
        readers: list[aiosqlite.Connection] = []
        try:
            while len(readers) < READERS:
                readers.append(await _open_reader(path))
        except BaseException:
            for reader in readers:
                await reader.close()
            connection.close()
            raise
        return cls(connection, readers, Views(path, cached_statements=CACHED_STATEMENTS), on_wake)

    async def run(self, body: Callable[[Transaction], T]) -> T:
        """What `body` returns, once all it wrote is durable. Bodies run in the order of the calls.

        An exception of the body undoes what that body wrote, nothing else, and is raised here.
        Raises Unavailable when the store could not commit: then nothing of it is written.
        A caller who is cancelled does not know the outcome: the body still runs and may commit.
        A body must not call `run`, and must have no effect outside the transaction.
        """
        job = _Job(body, self._loop.create_future())
        with self._lock:
            if self._is_closed:
                raise Unavailable("The store is closed: Dovecote is stopping.")
            self._waiting.append(job)
            must_start, self._is_working = not self._is_working, True
        if must_start:
            self._executor.submit(self._work)
        result: T = await job.future
        return result

    async def view(self, body: Callable[[Transaction], T]) -> T:
        """What `body` finds in one committed state; it can write nothing, and writers do not wait for it.

        For what takes several queries or makes much of what they find. Raises what it raises, Unavailable
        when the store cannot be read.
        """
        if self._is_closed:
            raise Unavailable("The store is closed: Dovecote is stopping.")
        return await self._views.look(lambda connection: body(Transaction(connection)))

    @contextlib.asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """Borrow one of the read-only connections; waits while all are lent.

        Raises Unavailable once the store is closed.
        """
        connection = await self._free_readers.get()
        if self._is_closed:
            self._free_readers.put_nowait(connection)
            raise Unavailable("The store is closed: Dovecote is stopping.")
        try:
            yield Reader(connection)
        finally:
            self._free_readers.put_nowait(connection)

    async def compact(self) -> None:
        """Write the file anew, so that nothing of what was deleted is left in it or in its journal.

        What is run meanwhile waits. Raises Unavailable, also while somebody reads on for too long.
        """

        def work() -> None:
            try:
                self._connection.execute("VACUUM")
                (is_busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                raise unavailable("be written anew", error) from error
            if is_busy:
                raise Unavailable("The store is being read, so its journal could not be emptied. Try again.")

        with self._lock:
            if self._is_closed:
                raise Unavailable("The store is closed: Dovecote is stopping.")
            done = self._executor.submit(work)
        await asyncio.wrap_future(done)

    async def close(self) -> None:
        """Refuse further bodies, finish those queued, close every connection. May be called again."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if was_closed:
            return
        for reader in self._readers:
            await reader.close()
        await self._views.close()
        # The executor takes this after the work that is queued, also when we are cancelled here.
        closing = self._executor.submit(self._connection.close)
        self._executor.shutdown(wait=False)
        await asyncio.wrap_future(closing)

    def _work(self) -> None:
        """In the writer thread: commit group after group until nothing waits."""
        while True:
            with self._lock:
                group = [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_GROUP))]
                if not group:
                    self._is_working = False
                    return
            self._commit(group)
            self._loop.call_soon_threadsafe(self._answer, group)

    def _commit(self, group: Sequence[_Job]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in group:
                self._run_body(job)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):  # the next BEGIN then fails, and comes back here
                    self._connection.execute("ROLLBACK")
            down = unavailable("write", error)
            down.__cause__ = error
            for job in group:
                job.error, job.topics = down, []

    def _run_body(self, job: _Job) -> None:
        """One member of the group. Raises sqlite3.Error when the whole group is lost."""
        tx = Transaction(self._connection)
        self._connection.execute("SAVEPOINT body")
        try:
            job.result = job.body(tx)
            tx.write_gathered()
            if not self._connection.in_transaction:
                raise sqlite3.OperationalError("the transaction was undone by SQLite")
            self._connection.execute("RELEASE body")
        # The body is somebody else's code: whatever it raises is its caller's, and the group goes on.
        except BaseException as error:
            if not self._connection.in_transaction or is_storage_failure(error):
                raise sqlite3.OperationalError(str(error)) from error
            self._connection.execute("ROLLBACK TO body")
            self._connection.execute("RELEASE body")
            job.error = error
        else:
            job.topics = tx.topics

    def _answer(self, group: Sequence[_Job]) -> None:
        """On the loop: tell everybody who still waits, then wake the topics."""
        for job in group:
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            elif isinstance(job.error, StopIteration):  # a future cannot hold one
                job.future.set_exception(RuntimeError(f"a body raised {job.error!r}"))
            else:
                job.future.set_exception(job.error)
        if self._on_wake is not None:
            for topic in dict.fromkeys(topic for job in group for topic in job.topics):
                self._on_wake(topic)


@contextlib.asynccontextmanager
async def looking_at(path: Path) -> AsyncIterator[Reader]:
    """A reader of the store at `path`, whoever writes it; nothing is made or brought up to date.

    Raises Unavailable where it cannot be read.
    """
    connection = await _open_reader(path)
    try:
        yield Reader(connection)
    finally:
        await connection.close()


async def _open_reader(path: Path) -> aiosqlite.Connection:
    try:
        connection = await aiosqlite.connect(
            read_only_uri(path), uri=True, cached_statements=CACHED_STATEMENTS
        )
    except sqlite3.Error as error:
        raise unavailable("open for reading", error) from error
    connection.row_factory = sqlite3.Row
    return connection
