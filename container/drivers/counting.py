"""Counting aloud: work of the built-in driver that takes a while, so that there is something to watch."""

import asyncio
from typing import Final

from container.drivers.driver import Turn

MOST: Final = 3_600
MOST_IN_A_CHAT: Final = 10
"""Longer, a chat would wait for nothing; a helper has the time."""
_PAUSE_S: Final = 1.0


async def count_to(words: str, turn: Turn, *, is_helper: bool, pause_s: float = _PAUSE_S) -> str:
    """Count to a number, one a second, and tell on the way how far it is."""
    number = int(words)
    if number > MOST or number < 1:
        return f"I count to anything from 1 to {MOST:,}, not to {number:,}."
    if number > MOST_IN_A_CHAT and not is_helper:
        return (
            f"That would keep us waiting: `spawn count to {number}` has a helper do it, and `show tree` "
            "shows how it stands."
        )
    told = -1
    for reached in range(1, number + 1):
        await asyncio.sleep(pause_s)
        percent = 100 * reached // number
        if percent > told:
            await turn.progress(percent, f"counted to {reached:,}")
            told = percent
    return f"I counted to {number:,}."
