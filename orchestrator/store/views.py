"""Looks at the store that take long: on a read-only connection with a thread of its own."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from orchestrator.store.failures import is_storage_failure, unavailable

T = TypeVar("T")


class Views:
    """One look at a time, each at one committed state. Used from one loop."""

    def __init__(self, path: Path, *, cached_statements: int) -> None:
        self._uri = read_only_uri(path)
        self._cached_statements = cached_statements
        self._executor = ThreadPoolExecutor(1, "store views")
        self._connection: sqlite3.Connection | None = None
        self._is_used = False

    async def look(self, body: Callable[[sqlite3.Connection], T]) -> T:
        """What `body` returns, which has a transaction that can write nothing.

        Raises what it raises, Unavailable when the store cannot be read.
        """
        self._is_used = True
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._look, body)

    async def close(self) -> None:
        """Finish the looks that were asked for, and close the file. No more may be asked for."""
        closing = self._executor.submit(self._close) if self._is_used else None
        self._executor.shutdown(wait=False)
        if closing is not None:
            await asyncio.wrap_future(closing)

    def _look(self, body: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._opened()
            connection.execute("BEGIN")
            try:
                return body(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            if is_storage_failure(error):
                raise unavailable("read", error) from error
            raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(
                self._uri, uri=True, isolation_level=None, cached_statements=self._cached_statements
            )
            self._connection.row_factory = sqlite3.Row
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def read_only_uri(path: Path) -> str:
    """What SQLite opens the store at `path` by, so that nothing can be written."""
    return f"{path.absolute().as_uri()}?mode=ro"
