"""Clean-up that ends: it survives a second cancellation, in bounded time."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

_log = structlog.get_logger(__name__)


async def finish(work: Coroutine[Any, Any, object], *, within_s: float, what: str) -> None:
    """Run clean-up to its end, also while we are being cancelled.

    within_s: how long it may go on from the moment of our cancellation; without one it has no limit.
    The cancellation is passed on afterwards. An error of the clean-up is logged: the caller is on
    its way out and has nobody to tell.
    """
    own_task = asyncio.current_task()
    cancelled = own_task is not None and own_task.cancelling() > 0
    task = asyncio.ensure_future(work)  # noqa: TID251 - awaited below, whatever happens to us
    while not task.done():
        try:
            await asyncio.wait([task], timeout=within_s if cancelled else None)
        except asyncio.CancelledError:
            cancelled = True
            continue
        if not task.done():
            _log.error("cleanup.too_slow", what=what, within_s=within_s)
            task.cancel()
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("cleanup.failed", what=what, exc_info=error)
    if cancelled:
        raise asyncio.CancelledError
