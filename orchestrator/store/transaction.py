"""What a body of the store's writer works with: statements, and attempts that can be undone alone."""

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from orchestrator.contracts.seams import Topic
from orchestrator.store.failures import is_storage_failure
from orchestrator.store.gathered import Gathered

T = TypeVar("T")
Parameters = Mapping[str, object] | Sequence[object]


class HalfDone(Exception):
    """A work failed when it had already written something."""


class Transaction:
    """What a body works with. It is only good until the body returns."""

    __slots__ = ("_connection", "_gathered", "_recalled", "topics")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._gathered = Gathered()
        self._recalled: dict[tuple[Hashable, ...], sqlite3.Row | None] = {}
        self.topics: list[Topic] = []

    def execute(self, sql: str, params: Parameters = ()) -> sqlite3.Cursor:
        """Run one statement. Raises sqlite3.Error."""
        self._before(sql)
        return self._connection.execute(sql, params)

    def one(self, sql: str, params: Parameters = ()) -> sqlite3.Row | None:
        """The first row, or None. The statement is run to its end, so it may also write."""
        rows = self.execute(sql, params).fetchall()
        return rows[0] if rows else None

    def all(self, sql: str, params: Parameters = ()) -> list[sqlite3.Row]:
        """Every row."""
        return self.execute(sql, params).fetchall()

    def recall(self, sql: str, params: Mapping[str, Hashable]) -> sqlite3.Row | None:
        """As `one`; asked again before any other statement has run, it is not looked up again."""
        if self._gathered.must_precede(sql):
            self.write_gathered()
        question = sql, *params.values()
        if question not in self._recalled:
            rows = self._connection.execute(sql, params).fetchall()
            self._recalled[question] = rows[0] if rows else None
        return self._recalled[question]

    def remember(self, sql: str, params: Mapping[str, Hashable], row: sqlite3.Row) -> None:
        """Let `recall` know the row: it was found together with others."""
        self._recalled[sql, *params.values()] = row

    def execute_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Run one statement for each of `rows`. Raises sqlite3.Error."""
        self._before(sql)
        self._connection.executemany(sql, rows)

    def insert_later(self, table: str, sql: str, row: Mapping[str, object]) -> None:
        """Run `sql`, which adds `row` to `table`, together with others like it.

        It is done before any statement that names the table, and at the end. What it raises is raised there.
        """
        if not self._gathered.is_of(sql):
            self.write_gathered()
        self._gathered.add(table, sql, row)

    def write_gathered(self) -> None:
        """Run what `insert_later` has put off. Raises sqlite3.Error."""
        if self._gathered:
            sql, rows = self._gathered.take()
            self.execute_many(sql, rows)

    def attempt(self, work: Callable[[], T]) -> T | Exception:
        """What `work` returns, or the exception that it raised: then nothing that it wrote or woke stays.

        Raises when the store itself failed, since then the whole body is undone.
        """
        wakes = len(self.topics)
        self.write_gathered()
        self.execute("SAVEPOINT attempt")
        try:
            result = work()
            self.write_gathered()
            self.execute("RELEASE attempt")
        # The work is somebody else's code: what it raises is for its caller to judge.
        except Exception as error:
            if not self._connection.in_transaction or is_storage_failure(error):
                raise
            self.execute("ROLLBACK TO attempt")
            self.execute("RELEASE attempt")
            self._gathered.drop(after=0)
            del self.topics[wakes:]
            return error
        return result

    def attempt_unsaved(self, work: Callable[[], T]) -> T | Exception:
        """As `attempt`, and quicker. Raises HalfDone when the work fails after it wrote something.

        Then nothing can undo that alone: the caller undoes all of it and goes another way.
        """
        wakes, written = len(self.topics), self._written()
        gathered = len(self._gathered)
        try:
            return work()
        # As in `attempt`.
        except Exception as error:
            if not self._connection.in_transaction or is_storage_failure(error):
                raise
            if self._written() != written:
                raise HalfDone from error
            self._gathered.drop(after=gathered)
            del self.topics[wakes:]
            return error

    def rehearse(self, work: Callable[[], object]) -> None:
        """Do `work` and undo it. What it raises is raised; nothing that it wrote or woke stays."""
        wakes = len(self.topics)
        self.write_gathered()
        self.execute("SAVEPOINT rehearsal")
        try:
            work()
        finally:
            del self.topics[wakes:]
            self._gathered.drop(after=0)
            if self._connection.in_transaction:
                self.execute("ROLLBACK TO rehearsal")
                self.execute("RELEASE rehearsal")

    def wake(self, topic: Topic) -> None:
        """Wake `topic` once this is committed; never if it is undone."""
        self.topics.append(topic)

    def _before(self, sql: str) -> None:
        if not self._connection.in_transaction:
            # After a full disk SQLite has undone everything by itself; a body that goes on regardless
            # would commit each further statement on its own.
            raise sqlite3.OperationalError("the transaction was undone by an earlier error")
        self._recalled.clear()
        if self._gathered.must_precede(sql):
            self.write_gathered()

    def _written(self) -> tuple[int, int]:
        """Another pair whenever something was written."""
        return self._connection.total_changes, self._gathered.written
