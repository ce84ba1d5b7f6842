"""Room for bodies in memory: whoever finds it taken waits, first come first served."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ByteRoom:
    """So many bytes may be held at a time. One reservation never exceeds the whole."""

    def __init__(self, size_bytes: int) -> None:
        self._size = size_bytes
        self._free = size_bytes
        self._waiting: deque[tuple[int, asyncio.Event]] = deque()

    @asynccontextmanager
    async def held(self, size_bytes: int) -> AsyncIterator["Held"]:
        """Reserve room while the block runs. More than the whole counts as the whole."""
        wanted = min(size_bytes, self._size)
        turn = asyncio.Event()
        self._waiting.append((wanted, turn))
        self._let_in()
        held = Held(self, wanted)
        try:
            await turn.wait()
            yield held
        finally:
            if turn.is_set():
                held.shrink(0)
            else:
                self._waiting.remove((wanted, turn))
                self._let_in()

    def give_back(self, size_bytes: int) -> None:
        """Somebody needs so many bytes no longer."""
        self._free += size_bytes
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            wanted, turn = self._waiting.popleft()
            self._free -= wanted
            turn.set()


class Held:
    """One reservation."""

    def __init__(self, room: ByteRoom, size_bytes: int) -> None:
        self._room = room
        self._size = size_bytes

    def shrink(self, size_bytes: int) -> None:
        """Keep only so much of it; more than is held changes nothing."""
        spare = max(self._size - size_bytes, 0)
        self._size -= spare
        self._room.give_back(spare)
