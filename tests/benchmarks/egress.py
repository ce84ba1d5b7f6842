"""A provider's answer through forwarder and proxy, against the same program asking it directly."""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from container.forwarder import PORT_VARIABLE, SOCKET_VARIABLE
from orchestrator.egress.proxy import opened_egress
from tests.benchmarks.sampling import percentile
from tests.benchmarks.table import Row, at_least, at_most
from tests.support.egress_world import API, POLICY, CountedUse, socket_of
from tests.support.eventually import eventually
from tests.support.manual_clock import ManualClock

_ROUNDS: Final = 4


async def run() -> list[Row]:
    """Provider, forwarder and agent's program are processes of their own, as they are in truth.

    Both ways take turns, so that what else the machine does is the same for both.
    """
    direct, through = _nothing_yet(), _nothing_yet()
    async with _program("tests.benchmarks.egress_ends", "provider") as provider:
        assert provider.stdout is not None
        port = int(await provider.stdout.readline())
        with tempfile.TemporaryDirectory() as directory:
            async with forwarded(Path(directory), port) as forwarded_port:
                for _ in range(_ROUNDS):
                    await _measure(port, direct)
                    await _measure(forwarded_port, through)
    later_ms = percentile(through["first_byte_ms"], 50) - percentile(direct["first_byte_ms"], 50)
    return [
        Row(
            name="first byte through the proxy, later than direct, p50",
            figure=later_ms,
            unit="ms",
            bar=at_most(2),
        ),
        Row(
            name="first byte through the proxy, p99",
            figure=percentile(through["first_byte_ms"], 99),
            unit="ms",
            floor=percentile(direct["first_byte_ms"], 99),
        ),
        Row(
            name="20 MB in 16 KiB chunks through the proxy, median",
            figure=percentile(through["mb_s"], 50),
            unit="MB/s",
            floor=percentile(direct["mb_s"], 50),
            bar=at_least(50),
        ),
    ]


@asynccontextmanager
async def forwarded(directory: Path, provider_port: int) -> AsyncIterator[int]:
    """The port on which the provider is reached through forwarder and proxy."""
    api = replace(API, base=f"http://127.0.0.1:{provider_port}", is_named_by_operator=True)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    async with opened_egress(directory / "egress", meter=CountedUse(), clock=ManualClock()) as proxy:
        door = await proxy.open(replace(POLICY, api=api))
        environment = {PORT_VARIABLE: str(port), SOCKET_VARIABLE: str(socket_of(door.directory))}
        async with _program("container.forwarder", **environment):
            await eventually(lambda: _is_open(port))
            yield port


def _nothing_yet() -> dict[str, list[float]]:
    return {"first_byte_ms": [], "mb_s": []}


async def _measure(port: int, found: dict[str, list[float]]) -> None:
    async with _program("tests.benchmarks.egress_ends", "agent", str(port)) as agent:
        printed, _ = await agent.communicate()
    for name, values in json.loads(printed).items():
        found[name] += values


@asynccontextmanager
async def _program(
    module: str, *arguments: str, **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _is_open(port: int) -> Any:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
