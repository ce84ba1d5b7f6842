"""What is looked at while a soak runs: processes, the store's rows, files, and how soon answers come."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.benchmarks.agent_ready import resident_mib
from tests.benchmarks.sampling import median_ms, percentile
from tests.soak.trends import Measure
from tests.support.home_on_disk import HomeOnDisk

LOG_BYTES: Final = 1024**2
LOGS_KEPT: Final = 3
EVENTS_KEPT: Final = 5_000
"""The retention of a soak: so short that logs rotate and events are pruned within an hour."""
_MIB: Final = 1024**2
_CLERK: Final = b"orchestrator.ipc.clerk"
_BY_MESSAGES: Final = "grows with the messages: kept keep_messages_days (a day at least)"
_BY_TASKS: Final = "grows with the tasks: kept keep_messages_days after their end (a day at least)"
_BY_REPLIES: Final = "grows with the box requests for an hour, then flat"
_BY_BOXES: Final = "grows: replies for an hour, a thousand acks a chat, then flat"
_OF_TABLES: Final = {
    "messages": _BY_MESSAGES,
    "outbox": _BY_MESSAGES,
    "turns": "grows with the turns: kept 30 days",
    "tasks": _BY_TASKS,
    "requests": _BY_REPLIES,
    "event_log": f"up to {EVENTS_KEPT:,} and those of ten minutes, and those for the audit",
}
_ROWS: Final = "rows of "
FIXED: Final = (
    Measure(name="orchestrator resident", unit="MiB"),
    Measure(name="clerk resident", unit="MiB", expected="flat while it is there"),
    Measure(name="agents resident, all", unit="MiB"),
    Measure(name="orchestrator descriptors"),
    Measure(name="processes of agents"),
    Measure(name="accepted → answered, p50", unit="ms"),
    Measure(name="accepted → answered, p99", unit="ms"),
    Measure(name="files in boxes", expected=_BY_BOXES),
    Measure(name="bytes in boxes", unit="MiB", expected="as the files"),
    Measure(name="other files"),
    Measure(name="other bytes", unit="MiB"),
    Measure(name="store", unit="MiB", expected="grows with its rows"),
    Measure(
        name="log of the orchestrator", unit="MiB", expected=f"at most {LOG_BYTES / _MIB * (LOGS_KEPT + 1):g}"
    ),
    Measure(name="other logs", unit="MiB", expected="grows: those of agents, each rotated"),
)


def measures_of(home: HomeOnDisk) -> list[Measure]:
    """All of them; those of tables by the tables that there are."""
    found = (str(row["name"]) for row in home.rows("SELECT name FROM sqlite_master WHERE type = 'table'"))
    tables = sorted(name for name in found if not name.startswith("sqlite_"))
    return [
        *FIXED,
        *(Measure(name=f"{_ROWS}{name}", expected=_OF_TABLES.get(name, "flat")) for name in tables),
    ]


def measured(
    home: HomeOnDisk, pid: int, measures: Sequence[Measure], took_s: Sequence[float]
) -> Mapping[str, float]:
    """All that has a value now. pid: the orchestrator's. took_s: of answers since the last time. Blocks."""
    values = {**_of_processes(pid), **_of_files(home.path), **_of_rows(home, measures)}
    if took_s:
        values["accepted → answered, p50"] = median_ms(took_s)
        values["accepted → answered, p99"] = percentile(took_s, 99) * 1000
    return values


def _of_processes(pid: int) -> dict[str, float]:
    agents, count = 0.0, 0
    values = {
        "orchestrator resident": resident_mib(pid),
        "orchestrator descriptors": float(len(os.listdir(f"/proc/{pid}/fd"))),
    }
    for each in _below(pid):
        with contextlib.suppress(OSError, AssertionError):  # it has ended meanwhile
            mib = resident_mib(each)
            if _CLERK in Path(f"/proc/{each}/cmdline").read_bytes():
                values["clerk resident"] = mib
            else:
                agents, count = agents + mib, count + 1
    return values | {"agents resident, all": agents, "processes of agents": float(count)}


def _below(pid: int) -> Iterator[int]:
    """All descendants of a process."""
    children: dict[int, list[int]] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(each.name))
    waiting = [pid]
    while waiting:
        found = children.get(waiting.pop(), [])
        yield from found
        waiting += found


def _of_files(home: Path) -> dict[str, float]:
    data = home / "data"
    counts = dict.fromkeys(("files in boxes", "other files"), 0.0)
    sizes = dict.fromkeys(
        ("bytes in boxes", "other bytes", "store", "log of the orchestrator", "other logs"), 0.0
    )
    for directory, _, names in os.walk(home):
        place = Path(directory)
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # it went between the two looks
                size_mib = (place / name).lstat().st_size / _MIB
                counts["files in boxes" if place.is_relative_to(data / "ipc") else "other files"] += 1
                sizes[_kind_of(place, name, data)] += size_mib
    return counts | sizes


def _kind_of(place: Path, name: str, data: Path) -> str:
    if place.is_relative_to(data / "ipc"):
        return "bytes in boxes"
    if place.is_relative_to(data / "store"):
        return "store"
    if place == data / "logs" and name.startswith("dovecote.log"):
        return "log of the orchestrator"
    return "other logs" if "logs" in place.parts else "other bytes"


def _of_rows(home: HomeOnDisk, measures: Sequence[Measure]) -> dict[str, float]:
    names = [each.name for each in measures if each.name.startswith(_ROWS)]
    with contextlib.suppress(sqlite3.OperationalError):  # it is busy: the next sample has them
        return {name: _count(home, name.removeprefix(_ROWS)) for name in names}
    return {}


def _count(home: HomeOnDisk, table: str) -> float:
    (row,) = home.rows(f"SELECT count(*) AS found FROM {table}")
    return float(row["found"])
