"""Hints by inotify, on Linux: one descriptor for all boxes, one event for a file renamed in."""

from pathlib import Path
from typing import Final

from asyncinotify import Inotify, Mask, Watch

from orchestrator.ipc.hints import BoxDirectory, Report

_WANTED: Final = Mask.MOVED_TO | Mask.ONLYDIR | Mask.DONT_FOLLOW
_EVENTS_A_READ: Final = 64


class InotifyHints:
    """Implements `Hints`. Raises OSError when the system has no instance left to give."""

    def __init__(self) -> None:
        self._inotify = Inotify(cache_size=_EVENTS_A_READ)
        self._watches: dict[BoxDirectory, Watch] = {}
        # Keyed by what the kernel names in its events: a path in them would prove nothing.
        self._places: dict[int, BoxDirectory] = {}

    def add(self, place: BoxDirectory, path: Path) -> None:
        """Watch that directory; a link in its place is refused."""
        watch = self._inotify.add_watch(path, _WANTED)
        self._watches[place] = watch
        self._places[id(watch)] = place

    def remove(self, place: BoxDirectory) -> None:
        """Watch it no more."""
        watch = self._watches.pop(place, None)
        if watch is None:
            return
        self._places.pop(id(watch), None)
        try:
            self._inotify.rm_watch(watch)
        except OSError:
            return  # the directory is gone, and its watch with it

    async def run(self, report: Report) -> None:
        """Report each rename into a watched directory; after an overflow, everywhere."""
        while True:
            event = await self._inotify.get()
            if event.mask & Mask.Q_OVERFLOW:
                report(None)
                continue
            place = self._places.get(id(event.watch))
            if place is not None and not event.mask & Mask.IGNORED:
                report(frozenset({place}))

    def close(self) -> None:
        """Close the descriptor, and all watches with it."""
        self._inotify.close()
