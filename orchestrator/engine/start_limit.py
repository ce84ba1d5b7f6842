"""How long the start of an agent may take, all of it together: its walls, its first word, its input."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import GroupFolder


class StartLimit:
    """The time limit of one start. logs: where the agent's own log lies, for people."""

    def __init__(self, group: GroupFolder, *, limit_s: float, logs: Path) -> None:
        self._group = group
        self._limit_s = limit_s
        self._logs = logs
        self._ends_at: float | None = None

    def begin(self) -> None:
        """From now on the time counts."""
        self._ends_at = asyncio.get_running_loop().time() + self._limit_s

    @contextlib.asynccontextmanager
    async def holds(self, what: str) -> AsyncIterator[None]:
        """End what is done in here when the time is over. what: that the agent then did not do.

        Raises StartFailed.
        """
        try:
            async with asyncio.timeout_at(self._ends_at):
                yield
        except TimeoutError:
            raise StartFailed(
                f"The agent of group {self._group!r} {what} in {self._limit_s:.0f} s.",
                suggestion=f"Run dovecote doctor, and see its log in {self._logs}.",
            ) from None
