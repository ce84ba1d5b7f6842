"""Standard output while the loop runs: whole pairs and whole lines, in the order they were given."""

import asyncio
import os
import select
from typing import Final

from container.stdout import event_line
from orchestrator.contracts.wire.container_io import AgentEvent
from orchestrator.contracts.wire.framing import frame

# A pipe that polls as writable takes this much without blocking, so the descriptor can stay in
# blocking mode: the mode would be shared with every process that has the same pipe open.
_PIECE_BYTES: Final = select.PIPE_BUF


class OutputGone(OSError):
    """Nobody reads standard output any more: the orchestrator, or its end of the pipe, is gone."""


class Output:
    """Writes pairs and events for the host. Needs a running event loop.

    What was begun is always written to its end, also when the caller is cancelled meanwhile: half a
    pair would swallow every line after it. Each method waits until the host's side has taken all,
    so a slow reader slows the agent and never fills its memory. Raises OutputGone.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._written = asyncio.Event()
        self._failure: OSError | None = None
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    async def text(self, text: str) -> None:
        """Print one pair: what becomes one chat message."""
        await self.raw(frame(text).encode())

    async def event(self, event: AgentEvent) -> None:
        """Print one event line; the newline before it ends whatever raw bytes came before."""
        await self.raw(b"\n" + event_line(event))

    async def raw(self, written: bytes) -> None:
        """Print bytes as they are; only for drivers that have to misbehave."""
        self._waiting += written
        self._pump()
        await self.flush()

    async def flush(self) -> None:
        """Wait until the pipe has taken everything."""
        while self._waiting and self._failure is None:
            self._written.clear()
            await self._written.wait()
        if self._failure is not None:
            raise OutputGone(self._failure.errno, "standard output is gone") from self._failure

    def _pump(self) -> None:
        """Write while the pipe has room; come back when it has some again."""
        try:
            while self._waiting and self._poll.poll(0):
                del self._waiting[: os.write(self._descriptor, self._waiting[:_PIECE_BYTES])]
        except OSError as error:
            self._failure = error
            self._waiting.clear()
        if self._waiting:
            self._loop.add_writer(self._descriptor, self._pump)
        else:
            self._loop.remove_writer(self._descriptor)
            self._written.set()
