"""Servers on Unix sockets."""

import asyncio
import contextlib
import os
from pathlib import Path


async def until_open(socket: Path) -> None:
    """Wait until somebody listens."""
    async with asyncio.timeout(50):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_unix_connection(os.fspath(socket))
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.02)
