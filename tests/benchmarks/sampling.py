"""Times taken at named points, and what is said of many of them."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median


class Marks:
    """Implements `Checkpoints`: keeps when each point was reached, in monotonic seconds."""

    def __init__(self) -> None:
        self.at_s: defaultdict[str, list[float]] = defaultdict(list)

    def reached(self, name: str) -> None:
        """Keep the time. Points are reached on the loop's thread."""
        self.at_s[name].append(time.monotonic())


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many per cent do not exceed; the nearest one there is."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median_ms(values_s: Sequence[float]) -> float:
    """The median of seconds, in milliseconds."""
    return median(values_s) * 1000


async def until(holds: Callable[[], bool], *, within_s: float) -> None:
    """Look at a condition every 2 ms. Raises TimeoutError."""
    async with asyncio.timeout(within_s):
        # Conditions of several tasks and processes, looked at beside the measured path.
        while not holds():  # noqa: ASYNC110 - nothing sets an Event for it
            await asyncio.sleep(0.002)
