"""What a run left behind though all of it is over: processes, containers, files, rows."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import docker

from tests.support.home_on_disk import HomeOnDisk
from tests.torture.play import ENGINE_SOCKET, Rig, may_grow, still_open

_ENDED: Final = ("completed", "failed", "terminated", "timed_out", "lost")
_EMPTY: Final = ("spool", "laid", "run", "workspaces")
"""Directories below `data` that hold nothing when nothing runs."""


def leftovers(rig: Rig) -> Iterator[str]:
    """What is there and should not be."""
    home = rig.home
    for table, rows in still_open(home).items():
        yield f"{table} holds {rows}"
    for row in home.rows("SELECT agent_id, status FROM agents"):
        if row["status"] not in _ENDED:
            yield f"agent {row['agent_id']} is {row['status']}"
    if home.processes():
        yield f"these still run: {home.processes()}"
    if containers := _containers(rig):
        yield f"these containers are still there: {containers}"
    if home.boxes():
        yield f"these boxes still lie there: {home.boxes()}"
    before, after = rig.ledger.descriptors
    if after > before + may_grow(rig):
        yield f"the orchestrator held {before} descriptors before its last work and {after} after it"
    for path in _files(home):
        yield f"this file was left: {path.relative_to(home.path)}"


def _containers(rig: Rig) -> list[str]:
    """Those of the home, asked of the engine itself."""
    if rig.engine is None:
        return []
    with contextlib.closing(docker.DockerClient(base_url=f"unix://{ENGINE_SOCKET}")) as client:
        return rig.home.containers_now(client)


def _files(home: HomeOnDisk) -> Iterator[Path]:
    """Files of nobody's; sessions of agents that were started for one thing go with them."""
    data = home.path / "data"
    for name in _EMPTY:
        yield from (path for path in sorted((data / name).rglob("*")) if not path.is_dir())
    yield from sorted((data / "sessions").glob("@*"))
    yield from (path for path in sorted((data / "ipc").rglob(".*.tmp")))
