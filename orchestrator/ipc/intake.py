"""Takes request files: boxes in turn, in name order, rate-limited, each with its effect once.

Source: contracts.md section 3.
"""

import asyncio
from collections.abc import Callable, Sequence
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
from orchestrator.core.batch_size import LEAST, Pace, batch_size
from orchestrator.ipc.box import Box, Listing
from orchestrator.ipc.hints import Place
from orchestrator.ipc.lane import IntakeLimits, Lane
from orchestrator.ipc.parse import ParsedRequest, Refusal
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.reading import Candidate, Item, NotNow, read_candidate, refuse_unread
from orchestrator.ipc.submitter import Submitter
from orchestrator.ipc.threads import in_thread
from orchestrator.store.unsafe import HOST_TROUBLE, UnsafeEntry

_log = structlog.get_logger(__name__)

ALL_DIRECTORIES: Final = frozenset(REQUEST_DIRECTORIES)
_UNFINISHED_S: Final = 0.5
"""A file that is not JSON is given this long: its writer may not know of temporary names."""
_AGAIN_S: Final = 0.25
_AT_LEAST_S: Final = 0.001
_TROUBLE_S: Final = 10.0
"""So long a dead agent's box waits until it can be read."""
_MAX_REFUSED: Final = 200
_REFUSED_AT_ONCE: Final = 20
_TOO_MUCH: Final = Refusal(
    code=ErrorCode.RATE_LIMITED,
    message="Its agent ended and left more requests than may go at once; this one was not done.",
    suggestion="Send fewer requests at a time, and wait for their replies before ending.",
)
_NOT_READ: Final = Refusal(
    code=ErrorCode.INTERNAL_ERROR,
    message="Its agent ended and the file could not be read for 10 s; it was not done.",
    suggestion="Check the disk and how many files may be open: dovecote doctor",
)
_LONG_AT_ONCE: Final = 2
"""So many boxes are dealt with beside the others; more would take the threads that starts of agents need."""
_NOTHING: Final = Listing(requests=[], directories=[], is_over=False)


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
        self._submitter = Submitter(services, quarantine=quarantine, executor=executor)
        self._executor = executor
        self._limits = limits
        self._on_violation = on_violation
        self._lanes: dict[BoxName, Lane] = {}
        self._one_at_a_time = asyncio.Lock()
        self._news = asyncio.Event()
        self._beside: asyncio.TaskGroup | None = None
        self._pace: Pace | None = None
        self._long_ones = asyncio.Semaphore(_LONG_AT_ONCE)

    def add(self, caller: AgentCaller, box: Box) -> None:
        """Take the requests of `box` by the rights of `caller`."""
        self._lanes[box.name] = self.make_lane(caller, box)
        self._news.set()

    async def remove(self, name: BoxName) -> None:
        """Take no more of that box; when this returns no thread is in it."""
        lane = self._lanes.pop(name, None)
        async with self._one_at_a_time:
            pass
        if lane is not None:
            await lane.is_idle.wait()

    def lane(self, name: BoxName) -> Lane | None:
        """The box's lane, while it is taken from."""
        return self._lanes.get(name)

    def make_lane(self, caller: AgentCaller, box: Box) -> Lane:
        """A lane of its own, not taken from by `run`."""
        return Lane(caller, box, burst=self._limits.burst, now=self._clock.monotonic())

    def look(self, places: frozenset[Place] | None) -> None:
        """Something may have come there; None: anywhere."""
        if places is None:
            for lane in self._lanes.values():
                lane.stale |= ALL_DIRECTORIES
        else:
            for place in places:
                if place.box in self._lanes:
                    self._lanes[place.box].stale.add(place.directory)
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
                    if await self.pass_once() == 0:
                        await self._submitter.forget_gone()
                        await self._wait_for_news()
            finally:
                self._beside = None

    async def pass_once(self) -> int:
        """One batch over all boxes; how many files were looked at."""
        async with self._one_at_a_time:
            return await self._pass(list(self._lanes.values()), only=ALL_DIRECTORIES, is_last=False)

    async def take_from(
        self, lane: Lane, *, only: frozenset[str], is_last: bool
    ) -> frozenset[tuple[str, str]]:
        """One batch of one box; the directories and names that still wait there.

        is_last: its agent is dead, so what is unfinished now stays so.
        """
        while True:
            await lane.is_idle.wait()
            async with self._one_at_a_time:
                if lane.is_idle.is_set():  # no pass has begun with it while we waited for the lock
                    lane.stale |= only
                    await self._pass([lane], only=only, is_last=is_last)
                    break
        await lane.is_idle.wait()
        await self._submitter.forget_gone()
        return await self.left(lane, only=only)

    async def left(self, lane: Lane, *, only: frozenset[str]) -> frozenset[tuple[str, str]]:
        """The directories and names that wait in a box."""
        async with self._one_at_a_time:
            return await self._left(lane, only)

    def why_no_more(self, lane: Lane) -> Refusal | None:
        """Why what still lies in a dead agent's box is not done any more; None while it may be."""
        now = self._clock.monotonic()
        if not lane.has_token(now, per_minute=self._limits.per_minute):
            return _TOO_MUCH
        is_hopeless = lane.troubled_since is not None and now - lane.troubled_since >= _TROUBLE_S
        return _NOT_READ if is_hopeless else None

    async def refuse_left(self, lane: Lane, refusal: Refusal) -> None:
        """Keep the first 200 requests of a dead agent's box for the operator, with the reason why not."""
        async with self._one_at_a_time:
            left = sorted(await self._left(lane, ALL_DIRECTORIES))
            kept = [Candidate(lane=lane, directory=directory, name=name) for directory, name in left if name]
            for first in range(0, min(len(kept), _MAX_REFUSED), _REFUSED_AT_ONCE):
                some = kept[first : min(first + _REFUSED_AT_ONCE, _MAX_REFUSED)]
                found = await in_thread(self._executor, partial(_refuse_all, some, refusal))
                await self._submitter.deal_with([item for item in found if isinstance(item, Item)])
        _log.warning("box.not_emptied", box=lane.box.name, refused=len(left), why=refusal.message)

    def refill(self, lane: Lane) -> None:
        """Let a whole burst of the box go at once."""
        lane.refill(self._clock.monotonic())

    def wait_s(self, lane: Lane) -> float:
        """How long until the box may be served again."""
        return max(lane.ready_at - self._clock.monotonic(), 0.0)

    async def _left(self, lane: Lane, only: frozenset[str]) -> frozenset[tuple[str, str]]:
        places = [(lane, directory) for directory in REQUEST_DIRECTORIES if directory in only]
        listings = await in_thread(self._executor, lambda: self._read_listings(places))
        return frozenset(
            (directory, name)
            for (_, directory), listing in zip(places, listings, strict=True)
            for name in ([""] if listing is None else listing.requests)  # unknown is not empty
            if not lane.is_passed_over(directory, name)
        )

    async def _wait_for_news(self) -> None:
        idle = [lane for lane in self._lanes.values() if lane.is_idle.is_set()]
        looks = [at for lane in idle if (at := lane.next_look()) is not None]
        wait_s = max(min(looks) - self._clock.monotonic(), _AT_LEAST_S) if looks else None
        try:
            async with asyncio.timeout(wait_s):
                await self._news.wait()
        except TimeoutError:
            return  # a box may be served again

    async def _pass(self, lanes: Sequence[Lane], *, only: frozenset[str], is_last: bool) -> int:
        """One batch of these boxes. The caller holds the lock."""
        now = self._clock.monotonic()
        ready = [lane for lane in lanes if lane.ready_at <= now and lane.is_idle.is_set()]
        await self._list(ready, only, now)
        candidates = self._choose(ready, only, now)
        if not candidates:
            return 0
        found = await in_thread(
            self._executor, lambda: [read_candidate(candidate, is_last=is_last) for candidate in candidates]
        )
        items = [
            item for item in found if isinstance(item, Item) and self._is_ready(item, now, is_last=is_last)
        ]
        for item in found:
            if isinstance(item, Item):
                item.candidate.lane.troubled_since = None
        for other in found:
            if isinstance(other, NotNow):
                self._pass_by(other, now)
        await self._submitter.deal_with(self._put_beside(items))
        if len(candidates) >= LEAST:
            self._pace = Pace(files=len(candidates), took_s=self._clock.monotonic() - now)
        return len(candidates)

    def _put_beside(self, items: Sequence[Item]) -> Sequence[Item]:
        """Deal with boxes whose requests take long to prepare beside the others; the items of those."""
        long_ones = {item.candidate.lane for item in items if _takes_long(item)}
        if self._beside is None or not long_ones:
            return items
        for lane in long_ones:
            lane.is_idle.clear()
            own = [item for item in items if item.candidate.lane is lane]
            task = self._beside.create_task(self._deal_beside(own), name=f"long requests of {lane.box.name}")
            # Also of one that is cancelled before it begins: whoever removes the box waits for this.
            task.add_done_callback(partial(self._set_idle, lane))
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
        listings = await in_thread(self._executor, lambda: self._read_listings(places))
        for (lane, directory), listing in zip(places, listings, strict=True):
            if listing is None:
                self._wait_out(lane, now)
                continue
            if listing.is_closed:
                self.report(lane, f"The directory {directory}/ cannot be looked into.")
                continue
            lane.listed(directory, listing)
            if listing.is_over:
                self.report(lane, f"More than {self._limits.max_entries} entries in {directory}/.")
            if listing.directories:
                self.report(lane, f"A directory was made in {directory}/, where only files belong.")

    def _read_listings(self, places: Sequence[tuple[Lane, str]]) -> list[Listing | None]:
        """In the thread: what lies in the directories; None where that cannot be said now."""
        listings: list[Listing | None] = []
        for lane, directory in places:
            try:
                listings.append(lane.box.listing(directory, max_entries=self._limits.max_entries))
            except (UnsafeEntry, OSError) as error:
                _log.warning("box.not_listed", box=lane.box.name, directory=directory, error=str(error))
                is_trouble = isinstance(error, OSError) and error.errno in HOST_TROUBLE
                listings.append(None if is_trouble else _NOTHING)
        return listings

    def _choose(self, lanes: Sequence[Lane], only: frozenset[str], now: float) -> list[Candidate]:
        """One file a box and round, until the batch is full; boxes that got none are first next time."""
        room = batch_size(sum(lane.waiting(only) for lane in lanes), self._pace)
        chosen: list[Candidate] = []
        running = [lane for lane in lanes if lane.waiting(only)]
        while running and len(chosen) < room:
            still: list[Lane] = []
            for lane in running:
                if len(chosen) == room or not lane.take_token(now, per_minute=self._limits.per_minute):
                    continue
                place = lane.next_name(only)
                assert place is not None  # only boxes with waiting names run
                chosen.append(Candidate(lane=lane, directory=place[0], name=place[1]))
                if lane.waiting(only):
                    still.append(lane)
            running = still
        for name in dict.fromkeys(candidate.lane.box.name for candidate in chosen):
            if name in self._lanes:
                self._lanes[name] = self._lanes.pop(name)
        return chosen

    def _is_ready(self, item: Item, now: float, *, is_last: bool) -> bool:
        """Whether to go on with it in this pass; not while its writer may still be at it."""
        lane, directory, name = item.candidate.lane, item.candidate.directory, item.candidate.name
        verdict, file = item.verdict, item.file
        may_be_unfinished = isinstance(verdict, Refusal) and verdict.may_be_unfinished and not is_last
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

    def _wait_out(self, lane: Lane, now: float) -> None:
        """We could not read, for no reason of the agent's: all of its box is looked at again soon."""
        if lane.troubled_since is None:
            lane.troubled_since = now
        lane.hold(until=now + _AGAIN_S)

    def _pass_by(self, other: NotNow, now: float) -> None:
        lane, directory, name = other.candidate.lane, other.candidate.directory, other.candidate.name
        lane.give_token_back()
        if other.trouble is not None:
            _log.warning("request.not_read", box=lane.box.name, directory=directory, error=other.trouble)
            self._wait_out(lane, now)
        elif not other.is_gone:
            lane.set_unfinished(directory, name, now)
            lane.look_again(directory, at=now + _AGAIN_S)


def _takes_long(item: Item) -> bool:
    verdict = item.verdict
    return isinstance(verdict, ParsedRequest) and CATALOG[type(verdict.request)].takes_long(verdict.request)


def _refuse_all(candidates: Sequence[Candidate], refusal: Refusal) -> list[Item | NotNow]:
    return [refuse_unread(candidate, refusal) for candidate in candidates]
