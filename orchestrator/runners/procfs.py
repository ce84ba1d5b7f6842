"""What `/proc` says about processes, and killing one so that the kernel confirms it.

Linux only, but for `is_running` and `group_is_running`, which elsewhere only know if a number is in use.
"""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_PROC: Final = Path("/proc")
# Fields of `stat` after the command's closing parenthesis; proc(5) counts from 1 at the pid.
_STATE, _GROUP, _START_TICKS = 0, 2, 19


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessKey:
    """A process beyond doubt: a number is used again, a number with its start time is not."""

    pid: int
    start_ticks: int


def key_of(pid: int) -> ProcessKey | None:
    """The key of a process that runs now; None if it is gone or a zombie."""
    fields = _living_stat(pid)
    return None if fields is None else ProcessKey(pid=pid, start_ticks=int(fields[_START_TICKS]))


def _living_stat(pid: int) -> list[bytes] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return None if fields[_STATE] in (b"Z", b"X") else fields


def group_is_running(group: int) -> bool:
    """Whether any process of this process group still runs; one that only waits to be reaped does not."""
    if not _PROC.joinpath("self").exists():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True
    wanted = str(group).encode()
    found = (_living_stat(int(name)) for name in os.listdir(_PROC) if name.isdigit())
    return any(fields is not None and fields[_GROUP] == wanted for fields in found)


def is_running(key: ProcessKey) -> bool:
    """Whether this very process still runs."""
    if _PROC.joinpath("self").exists():
        return key_of(key.pid) == key
    try:
        os.kill(key.pid, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid: int) -> list[int]:
    """The children of the main thread of `pid`, in the order in which they came; none if it is gone."""
    try:
        return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def resident_bytes_of_tree(pid: int) -> int:
    """The memory of `pid` and all below it. What processes share is counted once for each."""
    total, waiting = 0, [pid]
    while waiting:
        here = waiting.pop()
        with suppress(FileNotFoundError, ProcessLookupError):
            total += int((_PROC / f"{here}/statm").read_text().split()[1]) * _PAGE_BYTES
            for thread in os.listdir(_PROC / f"{here}/task"):
                text = (_PROC / f"{here}/task/{thread}/children").read_text()
                waiting.extend(int(child) for child in text.split())
    return total


def named_processes(prefix: str, *, position: int) -> Iterator[tuple[ProcessKey, str]]:
    """Every process whose command word at `position` begins with `prefix`, with that word.

    A position, because a word of somebody's `grep` proves nothing.
    """
    for name in os.listdir(_PROC):
        if not name.isdigit():
            continue
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            words = (_PROC / name / "cmdline").read_bytes().split(b"\0")
            word = os.fsdecode(words[position]) if len(words) > position else ""
            if word.startswith(prefix) and (key := key_of(int(name))) is not None:
                yield key, word


def kill_and_verify(key: ProcessKey, *, within_s: float) -> bool:
    """Kill this very process and wait until the kernel says it is dead; False if it does not in time."""
    try:
        descriptor = os.pidfd_open(key.pid)
    except ProcessLookupError:
        return True
    try:
        if not is_running(key):
            return True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(within_s * 1000))
    finally:
        os.close(descriptor)
