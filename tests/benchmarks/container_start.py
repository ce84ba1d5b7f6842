"""Container start, each runner: from the call to the first byte printed inside, beside the bare command."""

import asyncio
import time
from pathlib import Path
from typing import Final

from orchestrator.contracts.seams import Runner
from orchestrator.contracts.version import IMAGE
from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.benchmarks.bare_agents import Ground, agent_uid, bare_command, first_output_s, make_ground
from tests.benchmarks.bench_app import bench_home, usable_runners
from tests.benchmarks.sampling import median_ms
from tests.benchmarks.table import Row, at_most_floors

_COMMAND: Final = ("python3", "-c", "print('up', flush=True)")
_BARS: Final = {"docker": 1.15, "bubblewrap": 1.3}
_COUNTS: Final = {"docker": 8, "bubblewrap": 25, "process": 25}


async def run() -> list[Row]:
    """A median a runner; the two kinds of start take turns, so that both meet the same machine."""
    rows: list[Row] = []
    for name in await usable_runners():
        with bench_home() as paths:
            ground = make_ground(paths.home, uid=agent_uid())
            runner = make_runner(name, RunnerOptions(image=IMAGE, programs_directory=ground.programs))
            try:
                ours, bare = await _starts(name, runner, ground, paths.home)
            finally:
                await runner.close()
        bar = at_most_floors(_BARS[name]) if name in _BARS else None
        rows.append(
            Row(
                name=f"container start, {name}",
                figure=median_ms(ours),
                unit="ms",
                floor=median_ms(bare),
                bar=bar,
            )
        )
    return rows


async def _starts(
    name: str, runner: Runner, ground: Ground, directory: Path
) -> tuple[list[float], list[float]]:
    words, environment = bare_command(name, ground.plan(_COMMAND), ground.programs)
    ours, bare = list[float](), list[float]()
    await _start_s(runner, ground)
    for _ in range(_COUNTS[name]):
        ours.append(await _start_s(runner, ground))
        bare.append(await asyncio.to_thread(first_output_s, words, environment, directory=directory))
    return ours, bare


async def _start_s(runner: Runner, ground: Ground) -> float:
    began = time.monotonic()
    handle = await runner.start(ground.plan(_COMMAND))
    try:
        await anext(aiter(handle.output()))
        took_s = time.monotonic() - began
        await handle.wait()
    finally:
        await handle.close()
    return took_s
