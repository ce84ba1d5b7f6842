"""`dovecote --help`, from exec to exit."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from tests.benchmarks.sampling import median_ms
from tests.benchmarks.table import Row, at_most

_COUNT: Final = 21


async def run() -> list[Row]:
    """The floor is the same interpreter doing nothing."""
    command = str(Path(sys.executable).with_name("dovecote"))
    ours = await asyncio.to_thread(_times, [command, "--help"])
    bare = await asyncio.to_thread(_times, [sys.executable, "-c", "pass"])
    return [
        Row(
            name="dovecote --help",
            figure=median_ms(ours),
            unit="ms",
            floor=median_ms(bare),
            bar=at_most(250),
        )
    ]


def _times(words: list[str]) -> list[float]:
    times_s: list[float] = []
    for _ in range(_COUNT):
        began = time.monotonic()
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        times_s.append(time.monotonic() - began)
    return times_s
