"""Servers on Unix sockets."""

import asyncio
import contextlib
import os
from pathlib import Path

from tests.support.eventually import eventually


async def until_open(socket: Path) -> None:
    """Wait until somebody listens."""

    async def is_open() -> bool:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_unix_connection(os.fspath(socket))
            writer.close()
            await writer.wait_closed()
            return True
        return False

    await eventually(is_open, within_s=50)
