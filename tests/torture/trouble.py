"""The faults of a plan, done to a running orchestrator and undone when their time is over."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess
from tests.support.small_disk import fill, read_only
from tests.support.unix_proxy import UnixProxy
from tests.torture.plan import Fault, FaultKind

_LOOK_S: Final = 0.02


async def make_trouble(
    home: HomeOnDisk,
    orchestrator: OrchestratorProcess,
    fault: Fault,
    random: Random,
    *,
    engine: UnixProxy | None,
) -> int:
    """One fault, from its begin to its end; how many processes it killed. Whom it would befall may be gone.

    engine: in front of the container engine; None where the agents run without one.
    """
    with contextlib.suppress(ProcessLookupError):
        match fault.kind:
            case FaultKind.CLOCK_SET:
                orchestrator.set_clock(fault.for_s)
            case FaultKind.AGENT_KILLED:
                return await _kill(
                    lambda: _some_agent(home, orchestrator, random), orchestrator, within_s=fault.for_s
                )
            case FaultKind.CLERK_KILLED:
                return await _kill(lambda: _clerk_of(orchestrator), orchestrator, within_s=fault.for_s)
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
    return 0


async def _kill(find: Callable[[], list[int]], orchestrator: OrchestratorProcess, *, within_s: float) -> int:
    """kill -9 to whom it finds, as soon as there is somebody; how many that were."""
    ends = time.monotonic() + within_s
    while not (found := find()) and time.monotonic() < ends and not orchestrator.has_ended:  # noqa: ASYNC110 - another process starts it
        await asyncio.sleep(_LOOK_S)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return len(found)


def _clerk_of(orchestrator: OrchestratorProcess) -> list[int]:
    """Its command line does not name the home: it is known by its parent."""
    found: list[int] = []
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if each.name.isdigit() and b"orchestrator.ipc.clerk" in (each / "cmdline").read_bytes():
                parent = (each / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
                found += [int(each.name)] if int(parent) == orchestrator.pid else []
    return found


def _some_agent(home: HomeOnDisk, orchestrator: OrchestratorProcess, random: Random) -> list[int]:
    """A process of the home that is not the orchestrator's own: of an agent or its walls."""
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
