"""Batches while many files wait: one is read while the one before it is done and the one before that ends.

Each stage takes the batches in their order, so the order of a box's requests is kept.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from orchestrator.contracts.seams import Clock
from orchestrator.core.batch_size import LEAST, Pace
from orchestrator.ipc.conclusions import Conclusion
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.reading import Candidate, Item
from orchestrator.ipc.submitter import Submitter
from orchestrator.ipc.taking import Taker

_MAX_UNENDED: Final = 2
"""Batches whose effects are being done or that are at their end."""


class Bulk:
    """The way of many. put_beside: takes out what would hold the others up. on_progress: called when there
    is room, and when a batch is over.
    """

    def __init__(
        self,
        *,
        worker: FileWorker,
        taker: Taker,
        submitter: Submitter,
        put_beside: Callable[[Sequence[Item]], Sequence[Item]],
        on_progress: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._worker = worker
        self._taker = taker
        self._submitter = submitter
        self._put_beside = put_beside
        self._on_progress = on_progress
        self._clock = clock
        self._effects = asyncio.Lock()
        self._ends = asyncio.Lock()
        self._unended = asyncio.Semaphore(_MAX_UNENDED)
        self._under_way = 0
        self._is_settled = asyncio.Event()
        self._is_settled.set()
        self.has_room = True
        """Whether one more batch may begin."""
        self.pace: Pace | None = None
        """How fast the effects of the last batch were done."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way."""
        return self._is_settled.is_set()

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        await self._is_settled.wait()

    def begin(self, candidates: Sequence[Candidate], *, beside: asyncio.TaskGroup) -> None:
        """Deal with these; there is room. Their lanes know meanwhile that they are not to be chosen again."""
        for each in candidates:
            each.lane.set_under_way(*each.place)
        if self._under_way:
            self._worker.want_clerk()
        self.has_room = False
        self._under_way += 1
        self._is_settled.clear()
        task = beside.create_task(self._run(candidates), name="take many requests")
        task.add_done_callback(partial(self._over, candidates))

    async def _run(self, candidates: Sequence[Candidate]) -> None:
        items: Sequence[Item] = await self._taker.read(candidates, are_many=True)
        async with contextlib.AsyncExitStack() as until_it_ends:
            async with self._effects:
                # Before there is room: nothing of a box that is dealt with beside the others is chosen then.
                items = self._put_beside(_still_chosen(items))
                self.has_room = True
                self._on_progress()
                await until_it_ends.enter_async_context(self._unended)
                conclusions = await self._do(items)
            async with self._ends:
                await self._submitter.end(conclusions, are_many=True)
        if self._under_way == 1:
            await self._worker.say_calm()

    async def _do(self, items: Sequence[Item]) -> list[Conclusion]:
        began = self._clock.monotonic()
        conclusions = await self._submitter.do(items)
        if len(items) >= LEAST:
            self.pace = Pace(files=len(items), took_s=self._clock.monotonic() - began)
        return conclusions

    def _over(self, candidates: Sequence[Candidate], _: "asyncio.Task[None]") -> None:
        for each in candidates:
            each.lane.set_over(*each.place)
        self._under_way -= 1
        if self._under_way == 0:
            self._is_settled.set()
        self._on_progress()


def _still_chosen(items: Sequence[Item]) -> list[Item]:
    """Those whose boxes were not held since they were chosen; the others are chosen anew."""
    left = [item for item in items if item.candidate.holds == item.candidate.lane.holds]
    for item in items:
        if item.candidate.holds != item.candidate.lane.holds:
            item.candidate.lane.give_token_back()
    return left
