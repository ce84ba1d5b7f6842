"""What a process prints, kept up to a bound: its end is what tells most."""

import asyncio
import os
from collections.abc import Callable


class KeptTail(asyncio.Protocol):
    """The last bytes of a pipe. echo: also told each piece as it comes."""

    def __init__(self, max_bytes: int, echo: Callable[[bytes], None] | None = None) -> None:
        self.is_cut = False
        self.ended = asyncio.Event()
        self._max_bytes = max_bytes
        self._echo = echo
        self._kept = bytearray()

    @property
    def text(self) -> str:
        """What is kept; a character cut in half at its beginning is left out."""
        kept = bytes(self._kept)
        if self.is_cut:
            whole = next((n for n, byte in enumerate(kept[:4]) if byte & 0xC0 != 0x80), 0)
            kept = kept[whole:]
        return kept.decode("utf-8", "replace")

    def data_received(self, data: bytes) -> None:
        """Keep a piece."""
        self._kept += data
        if len(self._kept) > self._max_bytes:
            del self._kept[: len(self._kept) - self._max_bytes]
            self.is_cut = True
        if self._echo is not None:
            self._echo(data)

    def connection_lost(self, _error: Exception | None) -> None:
        """Everybody who could write has ended."""
        self.ended.set()


async def tail_pipe(kept: KeptTail) -> tuple[int, asyncio.ReadTransport]:
    """A pipe that `kept` reads: the end to write to, to be closed once a child has it, and our own."""
    ours, theirs = os.pipe()
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: kept, os.fdopen(ours, "rb", buffering=0)
        )
    except BaseException:
        os.close(theirs)
        raise
    return theirs, transport
