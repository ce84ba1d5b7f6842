"""Spawn to ready, each runner: from the request over HTTP until the child has its input, beside the bare
runner's start."""

import time
from typing import Final

import httpx

from orchestrator.commands.agents.agent_waits import wait_for_agent
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from orchestrator.contracts.records.spawns import WaitFor
from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.benchmarks.bare_agents import agent_uid, make_ground, runner_start_s
from tests.benchmarks.bench_app import Bench, bench_app, bench_home, usable_runners
from tests.benchmarks.sampling import percentile, until
from tests.benchmarks.table import Row
from tests.support.agent_image import IMAGE

_COUNTS: Final = {"docker": 10, "bubblewrap": 21, "process": 21}


async def run() -> list[Row]:
    """p50 and p99 a runner. The floor is its start of the same command until the line `ready`."""
    rows: list[Row] = []
    for name in await usable_runners():
        count = _COUNTS[name]
        bare = await _bare(name, count)
        async with bench_app(runner=name, serves_api=True) as bench, _client(bench) as client:
            await until(bench.paths.socket.exists, within_s=30)
            await _spawn_s(bench, client)
            took_s = [await _spawn_s(bench, client) for _ in range(count)]
        rows += [
            Row(
                name=f"spawn → ready, {name}, p{percent}",
                figure=percentile(took_s, percent) * 1000,
                unit="ms",
                floor=percentile(bare, percent) * 1000,
            )
            for percent in (50, 99)
        ]
    return rows


def _client(bench: Bench) -> httpx.AsyncClient:
    token = bench.paths.operator_token.read_text("ascii").strip()
    return httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(uds=str(bench.paths.socket)),
        base_url="http://dovecote",
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )


async def _spawn_s(bench: Bench, client: httpx.AsyncClient) -> float:
    """Seconds of one spawn; the next begins when that agent has ended."""
    began = time.monotonic()
    answer = await client.post("/api/v1/spawn", json={"task": "hello", "wait": "ready"})
    took_s = time.monotonic() - began
    answer.raise_for_status()
    agent_id = AgentId(answer.json()["agent_id"])
    await wait_for_agent(bench.app.services, OperatorCaller(), agent_id, WaitFor.RESULT, at_most_s=60)
    return took_s


async def _bare(name: str, count: int) -> list[float]:
    with bench_home() as paths:
        ground = make_ground(paths.home, uid=agent_uid())
        runner = make_runner(name, RunnerOptions(image=IMAGE, programs_directory=ground.programs))
        try:
            await runner_start_s(runner, ground, AGENT_RUNNER_COMMAND)
            return [await runner_start_s(runner, ground, AGENT_RUNNER_COMMAND) for _ in range(count)]
        finally:
            await runner.close()
