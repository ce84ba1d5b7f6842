"""Blocking file work on threads of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")


async def in_thread(executor: Executor, work: Callable[[], T]) -> T:
    """What `work` returns. Once begun it is waited for, also by a caller who is cancelled meanwhile.

    So a descriptor is never closed, nor a box handed on, while a thread is still busy with it.
    """
    job = asyncio.get_running_loop().run_in_executor(executor, work)
    was_cancelled = False
    while not job.done():
        try:
            await asyncio.wait([job])
        except asyncio.CancelledError:
            was_cancelled = True
    if was_cancelled:
        job.exception()  # looked at, so that it does not count as forgotten
        raise asyncio.CancelledError
    return job.result()
