"""Takes request files: boxes in turn, in name order, rate-limited, each with its effect once.

Source: contracts.md section 3.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final

import structlog

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import REQUEST_DIRECTORIES
from orchestrator.core.batch_size import LEAST, batch_size
from orchestrator.ipc.box import Box
from orchestrator.ipc.bulk import Bulk
from orchestrator.ipc.choosing import ALL_DIRECTORIES, FEW, MAX_QUICK, choose, quick_ones
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.hints import BoxDirectory
from orchestrator.ipc.lane import IntakeLimits, Lane
from orchestrator.ipc.parse import FileRefusal, ParsedRequest
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.reading import Candidate, Item, NotNow, refuse_unread
from orchestrator.ipc.submitter import Submitter
from orchestrator.ipc.taking import Taker, wait_out
from orchestrator.ipc.threads import in_thread

_log = structlog.get_logger(__name__)

_AT_LEAST_S: Final = 0.001
_TROUBLE_S: Final = 10.0
"""So long a dead agent's box waits until it can be read."""
_MAX_REFUSED: Final = 200
_REFUSED_AT_ONCE: Final = 20
_TOO_MUCH: Final = FileRefusal(
    code=ErrorCode.RATE_LIMITED,
    message="Its agent ended and left more requests than may go at once; this one was not done.",
    suggestion="Send fewer requests at a time, and wait for their replies before ending.",
)
_NOT_READ: Final = FileRefusal(
    code=ErrorCode.INTERNAL_ERROR,
    message="Its agent ended and the file could not be read for 10 s; it was not done.",
    suggestion="Check the disk and how many files may be open: dovecote doctor",
)
_LONG_AT_ONCE: Final = 2
"""So many boxes are dealt with beside the others; more would take the threads that starts of agents need."""
_FORGET_AFTER_S: Final = 0.2
"""A commit of its own, for which a request that comes meanwhile would have to wait."""


class Intake:
    """The reader of all live boxes. `run` is the loop; passes never overlap."""

    def __init__(
        self,
        services: Services,
        *,
        quarantine: Quarantine,
        executor: Executor,
        limits: IntakeLimits,
        on_violation: Callable[[BoxName, str], None],
    ) -> None:
        self._clock = services.clock
        self._news = asyncio.Event()
        self._heard_of: set[BoxName] = set()
        self._calm_since: float | None = None
        self._worker = FileWorker(executor)
        self._taker = Taker(worker=self._worker, executor=executor, clock=services.clock)
        self._submitter = Submitter(services, worker=self._worker, quarantine=quarantine, executor=executor)
        self._bulk = Bulk(
            worker=self._worker,
            taker=self._taker,
            submitter=self._submitter,
            put_beside=self._put_beside,
            on_progress=self._news.set,
            clock=services.clock,
        )
        self._executor = executor
        self._limits = limits
        self._on_violation = on_violation
        self._lanes: dict[BoxName, Lane] = {}
        self._one_at_a_time = asyncio.Lock()
        self._beside: asyncio.TaskGroup | None = None
        self._long_ones = asyncio.Semaphore(_LONG_AT_ONCE)

    def add(self, caller: AgentCaller, box: Box) -> None:
        """Take the requests of `box` by the rights of `caller`."""
        self._lanes[box.name] = self._make_lane(caller, box)
        self._news.set()

    async def remove(self, name: BoxName) -> None:
        """Take no more of that box; when this returns no thread is in it."""
        lane = self._lanes.pop(name, None)
        async with self._one_at_a_time:
            await self._bulk.settled()
        if lane is not None:
            await lane.is_idle.wait()

    def lane(self, name: BoxName) -> Lane | None:
        """The box's lane, while it is taken from."""
        return self._lanes.get(name)

    async def take_over(self, caller: AgentCaller, box: Box) -> Lane:
        """The lane of a dead agent's box, from which `run` takes no more; a whole burst may go at once.

        Two who take from it would each miss what the other is at.
        """
        lane = self._lanes.get(box.name) or self._make_lane(caller, box)
        await self.remove(box.name)
        lane.set_left(caller, self._clock.monotonic())
        return lane

    def look(self, places: frozenset[BoxDirectory] | None) -> None:
        """Something may have come there; None: anywhere."""
        if places is None:
            for lane in self._lanes.values():
                lane.stale |= ALL_DIRECTORIES
        else:
            for place in places:
                if place.box in self._lanes:
                    self._lanes[place.box].stale.add(place.directory)
                    self._heard_of.add(place.box)
        self._news.set()

    def report(self, lane: Lane, sentence: str) -> None:
        """Tell of a violation, once for each sentence."""
        if sentence not in lane.reported:
            lane.reported.add(sentence)
            self._on_violation(lane.box.name, sentence)

    async def run(self) -> None:
        """Take what comes, until cancelled."""
        async with asyncio.TaskGroup() as self._beside:
            try:
                while True:
                    self._news.clear()
                    if await self.pass_once() > 0:
                        self._calm_since = None
                    else:
                        await self._use_calm()
                        await self._wait_for_news()
            finally:
                self._beside = None

    async def pass_once(self) -> int:
        """One batch over all boxes; how many files were looked at."""
        async with self._one_at_a_time:
            return await self._pass_over_all(self._beside)

    async def end(self) -> None:
        """Give back what it holds beside lanes. `run` has ended."""
        await self._worker.send_clerk_home()

    async def take_from(self, lane: Lane, *, only: frozenset[str]) -> frozenset[tuple[str, str]]:
        """One batch of one box; the directories and names that still wait there."""
        while True:
            await lane.is_idle.wait()
            async with self._one_at_a_time:
                await self._bulk.settled()
                if lane.is_idle.is_set():  # no pass has begun with it while we waited
                    lane.stale |= only
                    await self._pass_over(lane, only=only)
                    break
        await lane.is_idle.wait()
        await self._submitter.forget_gone()
        return await self.left(lane, only=only)

    async def left(self, lane: Lane, *, only: frozenset[str]) -> frozenset[tuple[str, str]]:
        """The directories and names that wait in a box."""
        async with self._one_at_a_time:
            return await self._left(lane, only)

    def why_no_more(self, lane: Lane) -> FileRefusal | None:
        """Why what still lies in a dead agent's box is not done any more; None while it may be."""
        now = self._clock.monotonic()
        if not lane.has_token(now, per_minute=self._limits.per_minute):
            return _TOO_MUCH
        is_hopeless = lane.troubled_since is not None and now - lane.troubled_since >= _TROUBLE_S
        return _NOT_READ if is_hopeless else None

    async def refuse_left(self, lane: Lane, refusal: FileRefusal) -> None:
        """Keep the first 200 requests of a dead agent's box for the operator, with the reason why not."""
        async with self._one_at_a_time:
            left = sorted(await self._left(lane, ALL_DIRECTORIES))
            kept = [Candidate.of(lane, directory, name) for directory, name in left if name]
            for first in range(0, min(len(kept), _MAX_REFUSED), _REFUSED_AT_ONCE):
                some = kept[first : min(first + _REFUSED_AT_ONCE, _MAX_REFUSED)]
                found = await in_thread(self._executor, partial(_refuse_all, some, refusal))
                await self._submitter.deal_with([item for item in found if isinstance(item, Item)])
        _log.warning("box.not_emptied", box=lane.box.name, refused=len(left), why=refusal.message)

    def wait_s(self, lane: Lane) -> float:
        """How long until the box may be served again."""
        return max(lane.ready_at - self._clock.monotonic(), 0.0)

    def _make_lane(self, caller: AgentCaller, box: Box) -> Lane:
        return Lane(caller, box, burst=self._limits.burst, now=self._clock.monotonic())

    async def _left(self, lane: Lane, only: frozenset[str]) -> frozenset[tuple[str, str]]:
        await self._bulk.settled()
        places = [(lane, directory) for directory in REQUEST_DIRECTORIES if directory in only]
        listings = await self._taker.listings(places, max_entries=self._limits.max_entries)
        return frozenset(
            (directory, name)
            for (_, directory), listing in zip(places, listings, strict=True)
            for name in ([""] if listing is None else listing.requests)  # unknown is not empty
            if not lane.is_passed_over(directory, name)
        )

    async def _use_calm(self) -> None:
        """What can wait until nothing has come for a while."""
        now = self._clock.monotonic()
        if not self._bulk.is_settled:
            self._calm_since = None
            return
        if self._calm_since is None:
            self._calm_since = now
        if now >= self._calm_since + _FORGET_AFTER_S and self._submitter.has_gone:
            await self._submitter.forget_gone()
            if self._submitter.has_gone:
                self._calm_since = now = self._clock.monotonic()  # the store is away: once more in a while
        if now >= self._calm_since + self._limits.clerk_stays_s:
            await self._worker.send_clerk_home()

    def _next_use_of_calm(self) -> list[float]:
        """When there is more to do in the calm; monotonic seconds."""
        if self._calm_since is None:
            return []
        waits = [_FORGET_AFTER_S] if self._submitter.has_gone else []
        waits += [self._limits.clerk_stays_s] if self._worker.clerk is not None else []
        return [self._calm_since + wait_s for wait_s in waits]

    async def _wait_for_news(self) -> None:
        looks = self._next_use_of_calm()
        if self._bulk.has_room:  # else it will say when it has
            idle = [lane for lane in self._lanes.values() if lane.is_idle.is_set()]
            looks += [at for lane in idle if (at := lane.next_look()) is not None]
        wait_s = max(min(looks) - self._clock.monotonic(), _AT_LEAST_S) if looks else None
        try:
            async with asyncio.timeout(wait_s):
                await self._news.wait()
        except TimeoutError:
            return  # a box may be served again

    async def _pass_over(self, lane: Lane, *, only: frozenset[str]) -> None:
        """One batch of this box alone, dealt with when this returns but for requests that take long."""
        now = self._clock.monotonic()
        ready = [lane] if lane.ready_at <= now else []
        await self._list(ready, only, now)
        await self._take(self._choose(ready, only, now))

    async def _pass_over_all(self, beside: asyncio.TaskGroup | None) -> int:
        """One batch of the live boxes; how many files were chosen. beside: where many are dealt with."""
        now = self._clock.monotonic()
        if self._bulk.has_room:
            ready = [lane for lane in self._lanes.values() if lane.has_work(now) and lane.is_idle.is_set()]
            self._heard_of.clear()
            await self._list(ready, ALL_DIRECTORIES, now)
        else:
            ready = await self._few_of_those_heard_of(now)
        candidates = self._choose(ready, ALL_DIRECTORIES, now)
        if beside is None or (self._bulk.is_settled and len(candidates) < LEAST):
            await self._take(candidates)
        else:
            self._take_beside(candidates, beside)
        return len(candidates)

    async def _take(self, candidates: Sequence[Candidate]) -> None:
        items = await self._taker.read(candidates, are_many=False)
        await self._submitter.deal_with(self._put_beside(items))

    def _take_beside(self, candidates: Sequence[Candidate], beside: asyncio.TaskGroup) -> None:
        """Boxes of few files do not wait for those of many."""
        quick = quick_ones(candidates)
        for lane in quick:
            own = [each for each in candidates if each.lane is lane]
            self._begin_apart(lane, self._take_few(own), beside)
        if rest := [each for each in candidates if each.lane not in quick]:
            self._bulk.begin(rest, beside=beside)

    async def _few_of_those_heard_of(self, now: float) -> list[Lane]:
        """Boxes that may be served while no batch can begin: they have few files, and none under way."""
        heard_of = [self._lanes[name] for name in self._heard_of if name in self._lanes]
        self._heard_of.clear()
        ready = [
            lane
            for lane in heard_of
            if lane.ready_at <= now and lane.is_idle.is_set() and not lane.has_under_way
        ]
        await self._list(ready, ALL_DIRECTORIES, now)
        return [lane for lane in ready if lane.waiting(ALL_DIRECTORIES) <= FEW][:MAX_QUICK]

    async def _take_few(self, candidates: Sequence[Candidate]) -> None:
        items = await self._taker.read(candidates, are_many=False)
        if any(_takes_long(item) for item in items):
            await self._deal_beside(items)
        else:
            await self._submitter.deal_with(items)

    def _begin_apart(self, lane: Lane, work: Coroutine[None, None, None], beside: asyncio.TaskGroup) -> None:
        """Deal with a whole box beside the others."""
        lane.is_idle.clear()
        task = beside.create_task(work, name=f"requests of {lane.box.name}")
        # Also of one that is cancelled before it begins: whoever removes the box waits for this.
        task.add_done_callback(partial(self._set_idle, lane))

    def _put_beside(self, items: Sequence[Item]) -> Sequence[Item]:
        """Deal with boxes whose requests take long to prepare beside the others; the items of those."""
        long_ones = dict.fromkeys(item.candidate.lane for item in items if _takes_long(item))
        if self._beside is None or not long_ones:
            return items
        for lane in long_ones:
            own = [item for item in items if item.candidate.lane is lane]
            self._begin_apart(lane, self._deal_beside(own), self._beside)
        return [item for item in items if item.candidate.lane not in long_ones]

    async def _deal_beside(self, items: Sequence[Item]) -> None:
        async with self._long_ones:
            await self._submitter.deal_with(items)

    def _set_idle(self, lane: Lane, _: "asyncio.Task[None]") -> None:
        lane.is_idle.set()
        self._news.set()

    async def _list(self, lanes: Sequence[Lane], only: frozenset[str], now: float) -> None:
        places = [(lane, directory) for lane in lanes for directory in lane.to_list(only, now)]
        if not places:
            return
        for lane, directory in places:
            lane.stale.discard(directory)  # before the reading: what comes after it makes it stale again
        listings = await self._taker.listings(places, max_entries=self._limits.max_entries)
        for (lane, directory), listing in zip(places, listings, strict=True):
            if listing is None:
                wait_out(lane, now)
                continue
            if listing.is_closed:
                self.report(lane, f"The directory {directory}/ cannot be looked into.")
                continue
            lane.listed(directory, listing)
            if listing.is_over:
                self.report(lane, f"More than {self._limits.max_entries} entries in {directory}/.")
            if listing.directories:
                self.report(lane, f"A directory was made in {directory}/, where only files belong.")

    def _choose(self, lanes: Sequence[Lane], only: frozenset[str], now: float) -> list[Candidate]:
        """The next batch; boxes that got none are first next time."""
        room = batch_size(sum(lane.waiting(only) for lane in lanes), self._bulk.pace)
        chosen = choose(lanes, only, now, room=room, per_minute=self._limits.per_minute)
        for name in dict.fromkeys(candidate.lane.box.name for candidate in chosen):
            if name in self._lanes:
                self._lanes[name] = self._lanes.pop(name)
        return chosen


def _takes_long(item: Item) -> bool:
    verdict = item.verdict
    return isinstance(verdict, ParsedRequest) and CATALOG[type(verdict.request)].takes_long(verdict.request)


def _refuse_all(candidates: Sequence[Candidate], refusal: FileRefusal) -> list[Item | NotNow]:
    return [refuse_unread(candidate, refusal) for candidate in candidates]
