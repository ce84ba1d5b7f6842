"""Clean-up that ends: it survives a second cancellation, in bounded time."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

_log = structlog.get_logger(__name__)


async def finish(work: Coroutine[Any, Any, object], *, within_s: float, what: str) -> None:
    """Run clean-up to its end even while we are being cancelled; give up after `within_s`.

    A cancellation that arrives meanwhile is passed on afterwards. An error of the clean-up is
    logged: the caller is on its way out and has nobody to tell.
    """
    task = asyncio.ensure_future(asyncio.wait_for(work, within_s))
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("cleanup.failed", what=what, error=repr(error))
    if cancelled:
        raise asyncio.CancelledError
