"""Waiting for what another task, thread or process does: a condition with a deadline, never a fixed pause."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Final

_LOOK_EVERY_S: Final = 0.02


async def eventually(
    condition: Callable[[], object] | Callable[[], Awaitable[object]],
    *,
    within_s: float = 40.0,
    what: str | Callable[[], object] = "",
) -> None:
    """Return once `condition` gives something true; fail when it does not in time.

    what: said in the failure; a function is asked then, so that it can show how things stand.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while True:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return
        if loop.time() >= deadline:
            said = what() if callable(what) else what
            raise AssertionError(f"It did not come true within {within_s} s. {said}")
        await asyncio.sleep(_LOOK_EVERY_S)
