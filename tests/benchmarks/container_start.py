"""Container start, each runner: from the call to the first byte printed inside, beside the bare command."""

import asyncio
from typing import Final

from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.seams import Runner
from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.benchmarks.bare_agents import (
    Ground,
    agent_uid,
    bare_command,
    first_output_s,
    make_ground,
    runner_start_s,
)
from tests.benchmarks.bench_app import bench_home, usable_runners
from tests.benchmarks.sampling import median_ms
from tests.benchmarks.table import Row, at_most_floors
from tests.support.agent_image import IMAGE

_COMMANDS: Final = {
    "agent runner ready": AGENT_RUNNER_COMMAND,
    "bare Python": ("python3", "-c", "print('up', flush=True)"),
}
_BARS: Final = {"docker": 1.15, "bubblewrap": 1.3}
_COUNTS: Final = {"docker": 6, "bubblewrap": 21, "process": 21}


async def run() -> list[Row]:
    """A median a runner and command; the bars are the agent runner's, which is what is started in life."""
    rows: list[Row] = []
    for name in await usable_runners():
        with bench_home() as paths:
            ground = make_ground(paths.home, uid=agent_uid())
            runner = make_runner(name, RunnerOptions(image=IMAGE, programs_directory=ground.programs))
            try:
                rows += [await _row(name, what, runner, ground) for what in _COMMANDS]
            finally:
                await runner.close()
    return rows


async def _row(name: str, what: str, runner: Runner, ground: Ground) -> Row:
    """The two kinds of start take turns, so that both meet the same machine."""
    command = _COMMANDS[what]
    words, environment = bare_command(name, ground.plan(command), ground.programs)
    ours, bare = list[float](), list[float]()
    await runner_start_s(runner, ground, command)
    for _ in range(_COUNTS[name]):
        ours.append(await runner_start_s(runner, ground, command))
        bare.append(
            await asyncio.to_thread(first_output_s, words, environment, directory=ground.places.workspace)
        )
    has_bar = name in _BARS and command == AGENT_RUNNER_COMMAND
    return Row(
        name=f"container start, {name}, {what}",
        figure=median_ms(ours),
        unit="ms",
        floor=median_ms(bare),
        bar=at_most_floors(_BARS[name]) if has_bar else None,
    )
