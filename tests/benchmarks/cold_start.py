"""Inbound message stored → standard input read by the agent runner, cold, each runner."""

import asyncio
from typing import Final

from tests.benchmarks.bare_agents import PROBE_COMMAND, agent_uid, bare_command, make_ground, read_input_s
from tests.benchmarks.bench_app import Bench, bench_app, bench_home, usable_runners
from tests.benchmarks.sampling import median_ms, until
from tests.benchmarks.table import Row, at_most

_BARS_MS: Final = {"bubblewrap": 200.0}
_COUNTS: Final = {"docker": 6, "bubblewrap": 15, "process": 15}


async def run() -> list[Row]:
    """A median a runner; the floor is the bare program with the same mounts, its input at hand."""
    rows: list[Row] = []
    for name in await usable_runners():
        count = _COUNTS[name]
        async with bench_app(runner=name, groups=count, command=PROBE_COMMAND) as bench:
            took_s = [await _cold_s(bench, number) for number in range(count)]
        floor_s = await asyncio.to_thread(_floor, name, count)
        bar = at_most(_BARS_MS[name]) if name in _BARS_MS else None
        rows.append(
            Row(
                name=f"stored → stdin read, cold, {name}, p50",
                figure=median_ms(took_s),
                unit="ms",
                floor=median_ms(floor_s),
                bar=bar,
            )
        )
    return rows


async def _cold_s(bench: Bench, number: int) -> float:
    """One group's first message; the next begins when it is answered."""
    mark = bench.workspace(number) / "stdin_read"
    await bench.channel.hear(bench.chats[number], "hello", message_id="m-1")
    stored_s = bench.marks.at_s["inbound.committed"][-1]
    await until(lambda: len(bench.channel.sent) == number + 1, within_s=60)
    read_s = float(await asyncio.to_thread(mark.read_text))
    ended = bench.marks.at_s["turn_ended.read"]
    await until(lambda: len(ended) == number + 1, within_s=20)
    return read_s - stored_s


def _floor(name: str, count: int) -> list[float]:
    with bench_home() as paths:
        # A bare bwrap keeps our own user; a container has one of its own in any case.
        ground = make_ground(paths.home, uid=agent_uid() if name == "docker" else None)
        words, environment = bare_command(name, ground.plan(PROBE_COMMAND), ground.programs)
        return [read_input_s(words, environment, ground) for _ in range(count)]
