"""The faults of a plan, done to a running orchestrator and undone when their time is over."""

import asyncio
import contextlib
import os
import signal
import sqlite3
from collections.abc import Iterator
from random import Random

from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.small_disk import fill, read_only
from tests.support.unix_proxy import UnixProxy
from tests.torture.plan import Fault, FaultKind


async def make_trouble(
    home: HomeOnDisk,
    orchestrator: OrchestratorProcess,
    fault: Fault,
    random: Random,
    *,
    engine: UnixProxy | None,
) -> None:
    """One fault, from its begin to its end. Whom it would befall may be gone.

    engine: in front of the container engine; None where the agents run without one.
    """
    with contextlib.suppress(ProcessLookupError):
        match fault.kind:
            case FaultKind.CLOCK_SET:
                orchestrator.set_clock(fault.for_s)
            case FaultKind.AGENT_KILLED:
                for pid in _some_agent(home, orchestrator, random):
                    os.kill(pid, signal.SIGKILL)
            case FaultKind.AGENT_PAUSED:
                for pid in _some_agent(home, orchestrator, random):
                    await _pause(pid, fault.for_s)
            case FaultKind.PAUSED:
                await _pause(orchestrator.pid, fault.for_s)
            case FaultKind.STORE_BUSY:
                with _store_held(home):
                    await asyncio.sleep(fault.for_s)
            case FaultKind.CHANNEL_DOWN | FaultKind.DISK_FULL:
                await _with_file(home, fault)
            case FaultKind.DISK_READ_ONLY:
                with read_only(home.path / "data"):
                    await asyncio.sleep(fault.for_s)
            case FaultKind.ENGINE_DOWN if engine is not None:
                await engine.cut()
                await asyncio.sleep(fault.for_s)
                await engine.mend()


def _some_agent(home: HomeOnDisk, orchestrator: OrchestratorProcess, random: Random) -> list[int]:
    """A process of the home that is not the orchestrator's own: of an agent, its walls or the clerk."""
    pids = [int(each.partition(":")[0]) for each in home.processes()]
    others = [pid for pid in pids if pid != orchestrator.pid]
    return [random.choice(others)] if others else []


async def _pause(pid: int, for_s: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(for_s)
    finally:
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def _store_held(home: HomeOnDisk) -> Iterator[None]:
    """Another program is in the middle of a write; nothing of it stays."""
    path = home.path / "data" / "store" / "dovecote.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as other:
        with contextlib.suppress(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
        yield


async def _with_file(home: HomeOnDisk, fault: Fault) -> None:
    """The channel is down while a file is there; the disk is full while it is large."""
    is_disk = fault.kind is FaultKind.DISK_FULL
    path = home.path / "data" / "ballast" if is_disk else home.channel / "down"
    if is_disk:
        await asyncio.to_thread(fill, path)
    else:
        path.touch()
    try:
        await asyncio.sleep(fault.for_s)
    finally:
        path.unlink()
