"""A limit on memory where no control group can be made: look each second, and kill."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from orchestrator.runners import procfs


class MemoryWatch:
    """Adds up what all processes below `pid` hold each second; beyond the limit it calls `kill`, once."""

    def __init__(
        self,
        *,
        pid: int,
        limit_bytes: int,
        kill: Callable[[], None],
        executor: Executor,
        every_s: float = 1.0,
    ) -> None:
        self._pid = pid
        self._limit_bytes = limit_bytes
        self._kill = kill
        self._executor = executor
        self._every_s = every_s
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.has_killed = False

    def start(self) -> None:
        """Look for the first time in a second."""
        self._timer = self._loop.call_later(self._every_s, self._look)

    def stop(self) -> None:
        """Look no more. May be called again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        # Hundreds of processes take milliseconds to read: not the loop's.
        looking = self._loop.run_in_executor(self._executor, procfs.resident_bytes_of_tree, self._pid)
        looking.add_done_callback(self._judge)

    def _judge(self, looked: asyncio.Future[int]) -> None:
        if self._timer is None or looked.cancelled():
            return
        if looked.result() > self._limit_bytes:
            self.has_killed = True
            self._timer = None
            self._kill()
        else:
            self.start()
