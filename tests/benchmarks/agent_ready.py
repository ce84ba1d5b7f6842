"""The agent runner alone: from its interpreter's start to `ready`, and its memory then."""

import asyncio
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import Final

from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from tests.benchmarks.bare_agents import bare_command, make_ground
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.sampling import median_ms
from tests.benchmarks.table import Row, at_most

_COUNT: Final = 21
_BARE: Final = ("python3", "-c", "print('up', flush=True); input()")


async def run() -> list[Row]:
    """The floor is an interpreter that prints a line and waits."""
    return await asyncio.to_thread(_run)


def _run() -> list[Row]:
    with bench_home() as paths:
        ground = make_ground(paths.home, uid=None)
        agent, bare = (
            [_started(*bare_command("process", ground.plan(command), ground.programs)) for _ in range(_COUNT)]
            for command in (AGENT_RUNNER_COMMAND, _BARE)
        )
    return [
        Row(
            name="agent runner ready",
            figure=median_ms([took_s for took_s, _ in agent]),
            unit="ms",
            floor=median_ms([took_s for took_s, _ in bare]),
            bar=at_most(150),
        ),
        Row(
            name="agent runner resident",
            figure=median([mib for _, mib in agent]),
            unit="MiB",
            floor=median([mib for _, mib in bare]),
            bar=at_most(40),
        ),
    ]


def _started(words: list[str], environment: dict[str, str] | None) -> tuple[float, float]:
    """Seconds to its first line, and its resident MiB then."""
    began = time.monotonic()
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        assert program.stdout.readline(), "it printed nothing"
        took_s = time.monotonic() - began
        mib = resident_mib(program.pid)
        program.stdin.close()  # no line: it has nothing to do and exits
    return took_s, mib


def resident_mib(pid: int) -> float:
    """What a process holds in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"no VmRSS of {pid}")
