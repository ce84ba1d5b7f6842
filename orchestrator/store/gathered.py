"""Rows that are written together, since each way into SQLite costs about as much as a row."""

from collections.abc import Mapping, Sequence


class Gathered:
    """Rows of one table and one statement that wait to be written."""

    __slots__ = ("_rows", "_sql", "_table", "written")

    def __init__(self) -> None:
        self._table = ""
        self._sql = ""
        self._rows: list[Mapping[str, object]] = []
        self.written = 0
        """How often rows were taken to be written."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, table: str, sql: str, row: Mapping[str, object]) -> None:
        """Let one more row wait. The others that wait are of the same statement."""
        self._table, self._sql = table, sql
        self._rows.append(row)

    def must_precede(self, sql: str) -> bool:
        """Whether a statement could see that the rows are missing."""
        return bool(self._rows) and self._table in sql

    def is_of(self, sql: str) -> bool:
        """Whether rows of that statement may join those that wait."""
        return not self._rows or self._sql == sql

    def take(self) -> tuple[str, Sequence[Mapping[str, object]]]:
        """The statement and the rows that waited; none wait any more."""
        rows, self._rows = self._rows, []
        self.written += 1
        return self._sql, rows

    def drop(self, *, after: int) -> None:
        """Forget all rows but the first `after`."""
        del self._rows[after:]
