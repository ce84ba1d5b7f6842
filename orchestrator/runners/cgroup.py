"""Control groups for sandboxes, where this process may make them: v2 if it was delegated, or v1.

Each is made below the orchestrator's own group, so a limit set on the orchestrator holds for its agents.
"""

import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.records.launch import ResourceLimits

PREFIX: Final = "dovecote-"
_PERIOD_US: Final = 100_000
_CONTROLLERS: Final = ("memory", "pids", "cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parents:
    """The groups below which ours are made. v2: one for all. v1: one a controller, by its name.

    usable: the controllers that could be limited when it was tried.
    """

    v2: Path | None = None
    v1: tuple[tuple[str, Path], ...] = ()
    usable: frozenset[str] = frozenset()

    @property
    def directories(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.v2,) if self.v2 is not None else tuple(path for _, path in self.v1)


def find_parents(*, mounts: str, membership: str) -> Parents:
    """The groups this process is in, by the text of `/proc/self/mounts` and `/proc/self/cgroup`."""
    v2_root: Path | None = None
    roots: dict[str, Path] = {}
    for line in mounts.splitlines():
        _, directory, kind, options, *_ = line.split()
        if kind == "cgroup2":
            v2_root = Path(directory)
        elif kind == "cgroup":
            roots |= {name: Path(directory) for name in options.split(",") if name in _CONTROLLERS}
    v1: list[tuple[str, Path]] = []
    v2: Path | None = None
    for line in membership.splitlines():
        _, names, path = line.split(":", 2)
        v1.extend((name, roots[name] / path.lstrip("/")) for name in names.split(",") if name in roots)
        if not names and v2_root is not None:
            v2 = v2_root / path.lstrip("/")
    return Parents(v1=tuple(v1)) if v1 else Parents(v2=v2)


def read_parents() -> Parents:
    """The groups this process is in; what can be limited below them was not tried."""
    try:
        membership = Path("/proc/self/cgroup").read_text()
        return find_parents(mounts=Path("/proc/self/mounts").read_text(), membership=membership)
    except FileNotFoundError:
        return Parents()


def probe_parents() -> Parents:
    """The parents below which a group with limits really can be made; tried, not guessed. Blocks."""
    found = read_parents()
    if found.v2 is not None:
        _delegate(found.v2)
    trial = Cgroup.make(found, f"{PREFIX}trial-{os.getpid()}", ResourceLimits())
    usable = trial.limited
    trial.remove()
    return Parents(v2=found.v2, v1=found.v1, usable=usable)


def _delegate(group: Path) -> None:
    """Let `group` hand its controllers on. A group with limits may hold no process of its own, so if it
    holds only this one (a service with delegation), that moves into a leaf beside the agents'."""
    control = group / "cgroup.subtree_control"
    with suppress(OSError):
        missing = [name for name in _CONTROLLERS if name not in control.read_text().split()]
        if missing and (group / "cgroup.procs").read_text().split() == [str(os.getpid())]:
            leaf = group / "orchestrator"
            leaf.mkdir(exist_ok=True)
            (leaf / "cgroup.procs").write_text(str(os.getpid()))
    for name in _CONTROLLERS:
        with suppress(OSError):
            control.write_text(f"+{name}")


class Cgroup:
    """One agent's group: a directory, or with v1 one a controller. limited: what could be limited."""

    def __init__(self, directories: Sequence[Path], limited: frozenset[str]) -> None:
        self.directories = tuple(directories)
        self.limited = limited

    @classmethod
    def make(cls, parents: Parents, name: str, limits: ResourceLimits) -> "Cgroup":
        """Make it and set its limits, as far as this machine lets us; never raises for want of rights."""
        made: list[Path] = []
        limited: set[str] = set()
        for controller, parent in parents.v1 or ((None, parents.v2),):
            if parent is None:
                continue
            directory = parent / name
            try:
                directory.mkdir()
            except OSError:
                continue
            made.append(directory)
            settings = _v1_settings(limits) if controller else _v2_settings(limits)
            limited |= {
                part
                for part, files in settings.items()
                if controller in (None, part) and _set_all(directory, files)
            }
        return cls(made, frozenset(limited))

    def add(self, pid: int) -> None:
        """Put a process in; what it starts from now on is in, too. Raises OSError."""
        for directory in self.directories:
            (directory / "cgroup.procs").write_text(str(pid))

    def has_run_out_of_memory(self) -> bool:
        """Whether the kernel killed something in it for want of memory."""
        return any(
            line.split()[1] != "0"
            for directory in self.directories
            for name in ("memory.events", "memory.oom_control")
            for line in _lines(directory / name)
            if line.startswith("oom_kill ")
        )

    def remove(self) -> None:
        """Remove it. What still runs in it is killed first. Blocks for at most about a second."""
        for directory in self.directories:
            remove_group(directory)


def _v2_settings(limits: ResourceLimits) -> dict[str, dict[str, str]]:
    return {
        "memory": {"memory.max": str(limits.memory_bytes), "?memory.swap.max": "0", "?memory.oom.group": "1"},
        "pids": {"pids.max": str(limits.processes)},
        "cpu": {"cpu.max": f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}"},
    }


def _v1_settings(limits: ResourceLimits) -> dict[str, dict[str, str]]:
    memory = str(limits.memory_bytes)
    return {
        "memory": {"memory.limit_in_bytes": memory, "?memory.memsw.limit_in_bytes": memory},
        "pids": {"pids.max": str(limits.processes)},
        "cpu": {
            "cpu.cfs_period_us": str(_PERIOD_US),
            "cpu.cfs_quota_us": str(int(limits.cpus * _PERIOD_US)),
        },
    }


def _set_all(directory: Path, files: dict[str, str]) -> bool:
    """Write every file; one whose name begins with `?` may be missing (a kernel without swap accounts)."""
    is_set = True
    for name, text in files.items():
        path = directory / name.removeprefix("?")
        try:
            # Files of a control group can't be created: without this, another kind of directory could.
            with open(path, "r+") as file:
                file.write(text)
        except OSError:
            is_set = is_set and name.startswith("?")
    return is_set


def left_groups(parents: Parents, prefix: str) -> Iterator[Path]:
    """Directories of groups whose name begins with `prefix`."""
    for parent in parents.directories:
        with suppress(OSError):
            yield from parent.glob(f"{prefix}*")


def remove_group(directory: Path) -> bool:
    """Kill what is in a group and remove it; False if it is still there after about a second. Blocks."""
    for _ in range(100):
        for line in _lines(directory / "cgroup.procs"):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(line), signal.SIGKILL)
        try:
            directory.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EAGAIN):
                return False
            # The kernel lets go of a dead process a moment after its parent has heard of it.
            time.sleep(0.01)
        else:
            return True
    return False


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
