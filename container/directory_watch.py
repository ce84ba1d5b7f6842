"""Being told that something was renamed into a directory. A hint only: a poll makes it certain."""

import asyncio
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

POLL_WITH_EVENTS_S: Final = 1.0
"""Some shared file systems take a watch and never report; then answers come at this pace."""
POLL_ALONE_S: Final = 0.1

# From <sys/inotify.h>; the flags of inotify_init1 are those of open.
_IN_CLOSE_WRITE: Final = 0x00000008
_IN_MOVED_TO: Final = 0x00000080
_IN_ONLYDIR: Final = 0x01000000


WATCH_VARIABLE: Final = "DOVECOTE_WATCH"
"""Set to `poll`, no watch is asked for: on file systems that never report, answers come sooner so."""


class DirectoryWatch:
    """Calls `on_change` from the running loop when a file arrives in `directory`.

    Where there is no watch to have, or none is wanted, looking every `poll_s` is all there is.
    """

    def __init__(self, directory: Path, on_change: Callable[[], None], *, is_wanted: bool = True) -> None:
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._descriptor = _open_watch(directory) if is_wanted else None
        if self._descriptor is not None:
            self._loop.add_reader(self._descriptor, self._take_events)

    @property
    def poll_s(self) -> float:
        """How often to look although nothing was reported."""
        return POLL_ALONE_S if self._descriptor is None else POLL_WITH_EVENTS_S

    def close(self) -> None:
        """Give the watch back."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _take_events(self) -> None:
        assert self._descriptor is not None, "a closed watch has no reader"
        try:
            os.read(self._descriptor, 64 * 1024)
        except BlockingIOError:
            return
        self._on_change()


def _open_watch(directory: Path) -> int | None:
    """An inotify descriptor that reports arrivals in `directory`, or None where there is none to have."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return None
    if descriptor < 0:
        return None
    wanted = _IN_CLOSE_WRITE | _IN_MOVED_TO | _IN_ONLYDIR
    if libc.inotify_add_watch(descriptor, os.fsencode(directory), wanted) < 0:
        os.close(descriptor)
        return None
    return int(descriptor)
