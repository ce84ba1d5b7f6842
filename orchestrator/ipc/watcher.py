"""Which directories of live boxes may hold something new: by hints at once, by polling for certain."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

import structlog

from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import REQUEST_DIRECTORIES
from orchestrator.ipc.box import Box
from orchestrator.ipc.hints import BoxDirectory, Hints, Report
from orchestrator.ipc.threads import in_thread
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
_RENEW_S: Final = 30.0
"""After the hints were lost, they are tried again so often; polling goes on meanwhile."""


class Watcher:
    """Watches boxes while `run` runs. Add and remove on the loop's thread.

    make_hints: None to poll only. on_replaced: called with a box and the directory of it that
    the agent has exchanged for another.
    """

    def __init__(
        self,
        *,
        make_hints: Callable[[], Hints] | None,
        executor: Executor,
        poll_s: float,
        report: Report,
        on_replaced: Callable[[BoxName, str], None],
    ) -> None:
        self._make_hints = make_hints
        self._executor = executor
        self._poll_s = poll_s
        self._report = report
        self._on_replaced = on_replaced
        self._hints: Hints | None = None
        self._boxes: dict[BoxName, tuple[Box, Path]] = {}
        self._seen: dict[BoxDirectory, int | None] = {}
        self._look_again: set[BoxDirectory] = set()
        self._polling = asyncio.Lock()

    def add(self, box: Box, path: Path) -> None:
        """Watch the box that lies at `path`, and say once that all of it is to be looked at."""
        self._boxes[box.name] = box, path
        self._hint(box.name, path)
        self._report(frozenset(BoxDirectory(box.name, directory) for directory in REQUEST_DIRECTORIES))

    async def remove(self, name: BoxName) -> None:
        """Watch the box no more; when this returns no thread looks at it."""
        self._boxes.pop(name, None)
        for directory in REQUEST_DIRECTORIES:
            place = BoxDirectory(name, directory)
            self._seen.pop(place, None)
            self._look_again.discard(place)
            if self._hints is not None:
                self._hints.remove(place)
        async with self._polling:
            pass

    async def run(self) -> None:
        """Report until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._poll_for_ever(), name="poll boxes")
            if self._make_hints is not None:
                tasks.create_task(self._hint_for_ever(self._make_hints), name="hints of boxes")

    async def _hint_for_ever(self, make_hints: Callable[[], Hints]) -> None:
        while True:
            try:
                self._hints = make_hints()
                for name, (_, path) in self._boxes.items():
                    self._hint(name, path)
                self._report(None)
                await self._hints.run(self._report)
            except OSError as error:
                _log.warning("hints.lost", error=str(error), consequence="boxes are only polled")
            finally:
                if self._hints is not None:
                    self._hints.close()
                self._hints = None
            await asyncio.sleep(_RENEW_S)

    def _hint(self, name: BoxName, path: Path) -> None:
        if self._hints is None:
            return
        for directory in REQUEST_DIRECTORIES:
            try:
                self._hints.add(BoxDirectory(name, directory), path / directory)
            except OSError as error:
                _log.warning("hints.refused", box=name, directory=directory, error=str(error))

    async def _poll_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            await self.poll_once()

    async def poll_once(self) -> None:
        """Report the directories whose entries changed since the last poll."""
        async with self._polling:
            boxes = [box for box, _ in self._boxes.values()]
            if not boxes:
                return
            changes = await in_thread(self._executor, lambda: _last_changes(boxes))
            changed = {place for place, at in changes.items() if self._is_news(place, at)}
        if changed:
            self._report(frozenset(changed))

    def _is_news(self, place: BoxDirectory, changed_at: int | None) -> bool:
        if place.box not in self._boxes:
            return False
        if changed_at is None:
            if self._seen.get(place, 0) is not None:
                self._seen[place] = None
                self._on_replaced(place.box, place.directory)
            return False
        is_new = self._seen.get(place) != changed_at
        self._seen[place] = changed_at
        # A file system's time moves in steps: a file that came in the same step as our last look
        # changes nothing we could see, so a directory is looked at once more.
        is_second_look = place in self._look_again
        if is_new:
            self._look_again.add(place)
        else:
            self._look_again.discard(place)
        return is_new or is_second_look


def _last_changes(boxes: list[Box]) -> dict[BoxDirectory, int | None]:
    changes: dict[BoxDirectory, int | None] = {}
    for box in boxes:
        try:
            changes |= {BoxDirectory(box.name, directory): at for directory, at in box.last_changes().items()}
        except (UnsafeEntry, OSError) as error:
            _log.warning("box.not_looked_at", box=box.name, error=str(error))
    return changes
