"""`dovecote serve` with many groups and nothing to do: ready after, CPU, memory."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.paths import Paths
from orchestrator.store import groups
from orchestrator.store.database import Database
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction
from tests.benchmarks.agent_ready import resident_mib
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.bench_channel import NOON
from tests.benchmarks.table import Row, at_most

_SETTLE_S: Final = 4.0
_WATCH_S: Final = 10.0
_READY: Final = b"dovecote.ready"
_IMPORTS: Final = (
    "import orchestrator.cli.serve, orchestrator.api.application; print('up', flush=True); input()"
)


async def run() -> list[Row]:
    """With 1,000 and 10,000 groups; the floor is an interpreter that has imported the same and waits."""
    floor_s, floor_mib = await asyncio.to_thread(_floor)
    rows: list[Row] = []
    for count in (1_000, 10_000):
        with bench_home() as paths:
            paths.ensure()
            await _register(paths, count)
            idle = await asyncio.to_thread(serve_idle, paths)
        name = f"idle with {count:,} groups"
        rows += [
            Row(name=f"{name}: exec → ready", figure=idle.ready_s, unit="s", floor=floor_s, bar=at_most(2)),
            Row(name=f"{name}: one core", figure=idle.percent, unit="%", bar=at_most(1)),
            Row(name=f"{name}: resident", figure=idle.mib, unit="MiB", floor=floor_mib, bar=at_most(150)),
        ]
    return rows


async def _register(paths: Paths, count: int) -> None:
    database = await Database.open(paths.database, backups=paths.backups, on_wake=None)

    def body(tx: Transaction) -> None:
        for number in range(count):
            group = Group(
                folder=GroupFolder(f"g{number}"),
                jid=Jid(f"bench:{number}"),
                name=f"Group {number}",
                trigger="@Assistant",
                assistant_name="Assistant",
                added_at=NOON,
                number=0,
            )
            groups.add(
                tx,
                folder=group.folder,
                jid=group.jid,
                name=group.name,
                added_at=NOON,
                values=groups.columns(group),
            )

    await database.run(body)
    await database.close()
    await asyncio.to_thread(_make_folders, paths, count)


def _make_folders(paths: Paths, count: int) -> None:
    """As they lie on the disk of who has so many groups; making them durably is not what is measured."""
    for number in range(count):
        group_workspace(paths.groups, GroupFolder(f"g{number}")).mkdir(mode=0o700, parents=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Seconds to ready, of them on a processor, per cent of a core and resident MiB when nothing happens."""

    ready_s: float
    ready_cpu_s: float
    percent: float
    mib: float


_DOVECOTE: Final = (str(Path(sys.executable).with_name("dovecote")),)


def serve_idle(paths: Paths, program_words: Sequence[str] = _DOVECOTE) -> Idle:
    """What `dovecote serve` costs in a home where nothing happens."""
    (paths.home / "dovecote.toml").write_text('[agent]\nrunner = "process"\n')
    words = [*program_words, "serve", "--home", str(paths.home)]
    began = time.monotonic()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
        try:
            assert program.stderr is not None
            _read_until(program.stderr, _READY)
            ready_s, ready_cpu_s = time.monotonic() - began, _cpu_s(program.pid)
            time.sleep(_SETTLE_S)  # the API is loaded behind `ready`
            used_s = _cpu_s(program.pid)
            time.sleep(_WATCH_S)  # what is measured is that nothing happens in this time
            percent = (_cpu_s(program.pid) - used_s) / _WATCH_S * 100
            mib = resident_mib(program.pid)
            return Idle(ready_s=ready_s, ready_cpu_s=ready_cpu_s, percent=percent, mib=mib)
        finally:
            program.terminate()
            program.communicate()


def _floor() -> tuple[float, float]:
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", _IMPORTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        _read_until(program.stdout, b"up")
        took_s = time.monotonic() - began
        mib = resident_mib(program.pid)
        program.communicate(b"\n")
    return took_s, mib


def _read_until(stream: IO[bytes], word: bytes) -> None:
    assert any(word in line for line in stream), f"it ended without saying {word!r}"


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
