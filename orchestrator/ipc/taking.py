"""From chosen names to what may be dealt with: read, judged, and put off where its writer is not done."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final

import structlog

from orchestrator.contracts.seams import Clock
from orchestrator.ipc.box import Listing
from orchestrator.ipc.file_work import Unread, WhyNot
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.lane import Lane
from orchestrator.ipc.parse import FileRefusal
from orchestrator.ipc.reading import Candidate, Item, NotNow, judge, read_candidate
from orchestrator.ipc.threads import in_thread
from orchestrator.store.entry import ReadFile
from orchestrator.store.unsafe import HOST_TROUBLE, UnsafeEntry

_log = structlog.get_logger(__name__)
_UNFINISHED_S: Final = 0.5
"""A file that is not JSON is given this long: its writer may not know of temporary names."""
_AGAIN_S: Final = 0.25
_NOTHING: Final = Listing(requests=[], directories=[], is_over=False)


class Taker:
    """Reads for all boxes."""

    def __init__(self, *, worker: FileWorker, executor: Executor, clock: Clock) -> None:
        self._worker = worker
        self._executor = executor
        self._clock = clock

    async def listings(self, places: Sequence[tuple[Lane, str]], *, max_entries: int) -> list[Listing | None]:
        """What lies in these directories of these boxes; None where that cannot be said now."""
        return await in_thread(self._executor, partial(_listings, places, max_entries))

    async def read(self, candidates: Sequence[Candidate], *, are_many: bool) -> list[Item]:
        """What may be dealt with of these; the others are looked at again later, or are gone.

        are_many: as of `FileWorker.do`.
        """
        if not candidates:
            return []
        now = self._clock.monotonic()
        files = await self._worker.read([each.named for each in candidates]) if are_many else None
        found = await in_thread(self._executor, partial(_found, candidates, files))
        items: list[Item] = []
        for each in found:
            if isinstance(each, NotNow):
                self._pass_by(each, now)
                continue
            each.candidate.lane.troubled_since = None
            if self._is_ready(each, now):
                items.append(each)
        return items

    def _is_ready(self, item: Item, now: float) -> bool:
        """Whether to go on with it in this pass; not while its writer may still be at it."""
        lane, directory, name = item.candidate.lane, item.candidate.directory, item.candidate.name
        verdict, file = item.verdict, item.file
        may_be_unfinished = (
            isinstance(verdict, FileRefusal) and verdict.may_be_unfinished and not lane.is_left
        )
        if file is None or not may_be_unfinished:
            lane.set_finished(directory, name)
            return True
        if lane.is_stable(
            directory, name, (file.inode, file.ctime_ns, file.size), now, after_s=_UNFINISHED_S
        ):
            lane.set_finished(directory, name)
            return True
        self._pass_by(NotNow(candidate=item.candidate, is_gone=False), now)
        return False

    def _pass_by(self, other: NotNow, now: float) -> None:
        lane, directory, name = other.candidate.lane, other.candidate.directory, other.candidate.name
        lane.give_token_back()
        if other.trouble is not None:
            _log.warning("request.not_read", box=lane.box.name, directory=directory, error=other.trouble)
            wait_out(lane, now)
        elif not other.is_gone:
            lane.set_unfinished(directory, name, now)
            lane.look_again(directory, at=now + _AGAIN_S)


def wait_out(lane: Lane, now: float) -> None:
    """We could not read, for no reason of the agent's: all of its box is looked at again soon."""
    if lane.troubled_since is None:
        lane.troubled_since = now
    lane.hold(until=now + _AGAIN_S)


def _listings(places: Sequence[tuple[Lane, str]], max_entries: int) -> list[Listing | None]:
    found: list[Listing | None] = []
    for lane, directory in places:
        try:
            found.append(lane.box.listing(directory, max_entries=max_entries))
        except (UnsafeEntry, OSError) as error:
            _log.warning("box.not_listed", box=lane.box.name, directory=directory, error=str(error))
            is_trouble = isinstance(error, OSError) and error.errno in HOST_TROUBLE
            found.append(None if is_trouble else _NOTHING)
    return found


def _found(candidates: Sequence[Candidate], files: Sequence[ReadFile | Unread] | None) -> list[Item | NotNow]:
    """In the thread. files: what the clerk read; the rest is read here."""
    if files is None:
        return [read_candidate(each) for each in candidates]
    return [
        read_candidate(each) if isinstance(file, Unread) and file.why is WhyNot.LARGE else judge(each, file)
        for each, file in zip(candidates, files, strict=True)
    ]
