"""Standard input as lines, read without ever holding up the event loop or the end of the process."""

import asyncio
import codecs
import os
import selectors
from collections.abc import AsyncIterator, Iterator
from typing import Final

_CHUNK_BYTES: Final = 65_536


class _Stop:
    """A pipe whose closing wakes the reading thread."""

    def __init__(self) -> None:
        self.read_end, self._write_end = os.pipe()

    def stop(self) -> None:
        os.close(self._write_end)

    def close(self) -> None:
        os.close(self.read_end)


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """The lines of a file, pipe or terminal, without their ends, the last one even if it has none."""
    stop = _Stop()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    reading: asyncio.Future[bytes] | None = None
    try:
        while True:
            reading = asyncio.get_running_loop().run_in_executor(None, _read, descriptor, stop.read_end)
            chunk = await asyncio.shield(reading)
            reading = None
            rest += decoder.decode(chunk, final=not chunk)
            *whole, rest = rest.split("\n")
            for line in whole:
                yield line.removesuffix("\r")
            if not chunk:
                break
        if rest:
            yield rest
    finally:
        stop.stop()
        if reading is not None:
            await asyncio.wait([reading])
        stop.close()


def _read(descriptor: int, stop: int) -> bytes:
    """The next bytes; empty at the end of input, or when `stop` is closed."""
    for ready in _ready(descriptor, stop):
        if ready == stop:
            return b""
    return os.read(descriptor, _CHUNK_BYTES)


def _ready(descriptor: int, stop: int) -> Iterator[int]:
    # Of the selectors it is poll that takes regular files too.
    with selectors.PollSelector() as selector:
        selector.register(stop, selectors.EVENT_READ)
        selector.register(descriptor, selectors.EVENT_READ)
        for key, _ in selector.select():
            yield key.fd
