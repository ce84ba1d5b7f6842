"""`dovecote serve` with WhatsApp installed but off, beside one that could not load anything of it."""

import asyncio
import sys
from typing import Final

from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.idle import Idle, serve_idle
from tests.benchmarks.table import Bar, Bound, Row

_START: Final = """
import runpy, sys
sys.argv[0] = "dovecote"
runpy.run_module("orchestrator", run_name="__main__")
"""
_HIDE: Final = """
import importlib.abc, sys
HIDDEN = ("neonize", "magic", "orchestrator.channels.whatsapp")
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in HIDDEN or name.startswith(tuple(f"{each}." for each in HIDDEN)):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
sys.meta_path.insert(0, Hide())
"""
_UNCHANGED: Final = Bar(bound=Bound.RATIO_AT_MOST, limit=1.1)
_ROUNDS: Final = 3
_FIGURES: Final = (
    ("exec → ready", "s", lambda idle: idle.ready_s, None),  # a busy machine changes it more than we could
    ("processor time to ready", "s", lambda idle: idle.ready_cpu_s, _UNCHANGED),
    ("resident", "MiB", lambda idle: idle.mib, _UNCHANGED),
)


async def run() -> list[Row]:
    """Start-up and memory, the best of a few in turns; a tenth more is noise."""
    off, without = list[Idle](), list[Idle]()
    for _ in range(_ROUNDS):
        without.append(await _served(sys.executable, "-c", _HIDE + _START))
        off.append(await _served(sys.executable, "-c", _START))
    name, rows = "WhatsApp off, floor: without it", list[Row]()
    for what, unit, figure_of, bar in _FIGURES:
        figure, floor = (min(map(figure_of, served)) for served in (off, without))
        rows.append(Row(name=f"{name}: {what}", figure=figure, unit=unit, floor=floor, bar=bar))
    return rows


async def _served(*program: str) -> Idle:
    with bench_home() as paths:
        paths.ensure()
        return await asyncio.to_thread(serve_idle, paths, program)
