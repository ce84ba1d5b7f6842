"""Hints by watchfiles, where there is no inotify: a watch is begun anew when the directories change."""

import asyncio
from pathlib import Path
from typing import Final

from watchfiles import Change, awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from orchestrator.ipc.hints import BoxDirectory, Report

_STEP_MS: Final = 10
_DEBOUNCE_MS: Final = 20
_GATHER_S: Final = 1.0
"""Changes of the set within this time share one restart: each costs tens of milliseconds."""


class WatchfilesHints:
    """Implements `Hints`."""

    def __init__(self) -> None:
        self._paths: dict[BoxDirectory, Path] = {}
        self._changed = asyncio.Event()

    def add(self, place: BoxDirectory, path: Path) -> None:
        """Watch that directory, within about a second."""
        if path.is_symlink() or not path.is_dir():
            raise NotADirectoryError(str(path))
        self._paths[place] = path
        self._changed.set()

    def remove(self, place: BoxDirectory) -> None:
        """Watch it no more."""
        if self._paths.pop(place, None) is not None:
            self._changed.set()

    async def run(self, report: Report) -> None:
        """Report additions, with watches that overlap when the set of directories changes."""
        failure: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as watches:
                await self._renew_for_ever(watches, report)
        except* (OSError, WatchfilesRustInternalError) as group:
            failure = group.exceptions[0]
        # Not raised above: what leaves an `except*` is a group in some versions.
        raise OSError(f"watchfiles: {failure}") from failure

    async def _renew_for_ever(self, watches: asyncio.TaskGroup, report: Report) -> None:
        stop: asyncio.Event | None = None
        while True:
            self._changed.clear()
            previous, stop = stop, asyncio.Event()
            begun = asyncio.Event()
            places = {path: place for place, path in self._paths.items()}
            watches.create_task(self._watch(places, report, begun, stop), name="watch boxes")
            await begun.wait()
            if previous is not None:
                previous.set()
            report(None)  # what came to a new directory before its watch began was not seen
            await self._changed.wait()
            await asyncio.sleep(_GATHER_S if previous is not None else 0)

    async def _watch(
        self, places: dict[Path, BoxDirectory], report: Report, begun: asyncio.Event, stop: asyncio.Event
    ) -> None:
        # The first step of the iterator sets the watch up before it waits, so `begun` may be set now:
        # whoever waits for it runs after that step.
        begun.set()
        if not places:
            await stop.wait()
            return
        existing = [path for path in places if path.is_dir()]
        async for changes in awatch(
            *existing,
            recursive=False,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            watch_filter=_is_arrival,
            stop_event=stop,
            rust_timeout=1_000,
        ):
            found = frozenset(
                place for _, path in changes if (place := places.get(Path(path).parent)) is not None
            )
            if found:
                report(found)

    def close(self) -> None:
        """Nothing is held outside `run`."""


def _is_arrival(change: Change, path: str) -> bool:
    return change is not Change.deleted and not path.endswith(".tmp")
