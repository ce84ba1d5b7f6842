"""One box as the intake sees it: whose it is, what waits in it, and how fast it may go."""

import asyncio
from collections import deque
from dataclasses import dataclass, replace

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import REQUEST_DIRECTORIES
from orchestrator.core.rate_limit import Bucket, take
from orchestrator.ipc.box import Box, Listing


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLimits:
    """What one box may do. per_minute: requests; None for no limit. burst: at once, before that counts.

    max_entries: in one directory. clerk_stays_s: so long the clerk that a burst called waits for another.
    """

    per_minute: float | None = 120
    burst: float = 60
    max_entries: int = 10_000
    max_box_bytes: int = 64 * 1024 * 1024
    clerk_stays_s: float = 10.0


class Lane:
    """Names wait by directory; directories take turns, so that none starves another."""

    def __init__(self, caller: AgentCaller, box: Box, *, burst: float, now: float) -> None:
        self.caller = caller
        self.box = box
        self.ready_at = now
        """Not to be served before; monotonic seconds."""
        self.stale: set[str] = set(REQUEST_DIRECTORIES)
        """Directories to be listed again."""
        self.reported: set[str] = set()
        """Violations that were told; once each."""
        self.troubled_since: float | None = None
        """Since when we cannot read what lies there, for no reason of the agent's; monotonic seconds."""
        self.holds = 0
        """How often it was held: what was chosen before that and is not done is chosen anew."""
        self.is_idle = asyncio.Event()
        """Cleared while requests of this box are dealt with beside those of others."""
        self.is_idle.set()
        self.is_left = False
        """Whether its agent is dead: nobody writes there any more, so what is unfinished stays so."""
        self._burst = burst
        self._bucket = Bucket(tokens=burst, at=now)
        self._names: dict[str, deque[str]] = {directory: deque() for directory in REQUEST_DIRECTORIES}
        self._order: deque[str] = deque(REQUEST_DIRECTORIES)
        self._in_the_way: set[tuple[str, str]] = set()
        self._look_again_at: dict[str, float] = {}
        self._unfinished: dict[tuple[str, str], tuple[object, float]] = {}
        self._under_way: set[tuple[str, str]] = set()
        self._met_again: set[str] = set()

    def set_turn(self, turn_id: TurnId | None) -> None:
        """Requests from now on belong to that turn."""
        self.caller = replace(self.caller, turn_id=turn_id)

    def to_list(self, only: frozenset[str], now: float) -> list[str]:
        """Directories that have to be listed before more can be taken from them."""
        if self._look_again_at:
            for directory in [name for name, at in self._look_again_at.items() if at <= now]:
                del self._look_again_at[directory]
                self.stale.add(directory)
        if not self.stale:
            return []
        return [name for name in REQUEST_DIRECTORIES if name in only & self.stale and not self._names[name]]

    def next_look(self) -> float | None:
        """When there is something to do here, in monotonic seconds; None while nothing is known."""
        if self.stale or any(self._names.values()):
            return self.ready_at
        return min(self._look_again_at.values(), default=None)

    def has_work(self, now: float) -> bool:
        """Whether there is something to do here now."""
        return self.ready_at <= now and (at := self.next_look()) is not None and at <= now

    def listed(self, directory: str, listing: Listing) -> None:
        """Take over what lies in `directory`."""
        there = {(directory, name) for name in listing.requests}
        if self._in_the_way or self._unfinished:
            self._in_the_way -= {place for place in self._in_the_way if place[0] == directory} - there
            for place in [place for place in self._unfinished if place[0] == directory]:
                if place not in there:
                    del self._unfinished[place]
        if there & self._under_way:
            self._met_again.add(directory)
        kept = self._in_the_way | self._under_way
        self._names[directory] = deque(name for name in listing.requests if (directory, name) not in kept)

    def waiting(self, only: frozenset[str]) -> int:
        """How many names wait."""
        if len(only) == len(self._names):
            return sum(map(len, self._names.values()))
        return sum([len(names) for directory, names in self._names.items() if names and directory in only])

    def next_name(self, only: frozenset[str]) -> tuple[str, str] | None:
        """The next directory and name; its directory goes to the end of the order."""
        for directory in self._order:
            if directory in only and self._names[directory]:
                self._order.remove(directory)
                self._order.append(directory)
                return directory, self._names[directory].popleft()
        return None

    def take_token(self, now: float, *, per_minute: float | None) -> bool:
        """Whether one more may go now; if not, `ready_at` says when. per_minute: None for no limit."""
        if per_minute is None:
            return True
        self._bucket, wait_s = take(self._bucket, now, per_minute=per_minute, burst=self._burst)
        if wait_s > 0:
            self.ready_at = now + wait_s
        return wait_s == 0

    def has_token(self, now: float, *, per_minute: float | None) -> bool:
        """Whether one more might go now."""
        return per_minute is None or take(self._bucket, now, per_minute=per_minute, burst=self._burst)[1] == 0

    def give_token_back(self) -> None:
        """What was taken was no request after all."""
        self._bucket = replace(self._bucket, tokens=min(self._burst, self._bucket.tokens + 1))

    def look_again(self, directory: str, *, at: float) -> None:
        """List it anew then: a file in it was not ready. The others are not held up."""
        self._look_again_at.setdefault(directory, at)

    def hold(self, *, until: float) -> None:
        """Serve this box no earlier, and then look at all of it anew."""
        self.ready_at = max(self.ready_at, until)
        self.holds += 1
        self.stale = set(REQUEST_DIRECTORIES)
        for names in self._names.values():
            names.clear()

    def is_stable(self, directory: str, name: str, identity: object, now: float, *, after_s: float) -> bool:
        """Whether a file that is not JSON has been the same for `after_s`, so that nobody is writing it."""
        known, since = self._unfinished.get((directory, name), (None, now))
        if known != identity:
            self._unfinished[directory, name] = identity, now
            return False
        return now - since >= after_s

    def set_unfinished(self, directory: str, name: str, now: float) -> None:
        """Its writer is not done with that file."""
        self._unfinished.setdefault((directory, name), (None, now))

    def set_finished(self, directory: str, name: str) -> None:
        """That file is dealt with."""
        self._unfinished.pop((directory, name), None)

    def set_left(self, caller: AgentCaller, now: float) -> None:
        """Its agent is dead: no file is left to its writer, and a whole burst may go at once.

        caller: by whose rights what it left goes.
        """
        self.caller = caller
        self.is_left = True
        self._unfinished.clear()
        self._bucket = Bucket(tokens=self._burst, at=now)
        self.ready_at = now

    def set_under_way(self, directory: str, name: str) -> None:
        """The file of that name is being dealt with: it is not chosen again."""
        self._under_way.add((directory, name))

    @property
    def has_under_way(self) -> bool:
        """Whether any of its files is being dealt with beside those of others."""
        return bool(self._under_way)

    def set_over(self, directory: str, name: str) -> None:
        """What has that name from now on is another file, or could not be removed."""
        self._under_way.discard((directory, name))
        if directory in self._met_again:
            self._met_again.discard(directory)
            self.stale.add(directory)

    def is_passed_over(self, directory: str, name: str) -> bool:
        """Whether that name stays for now: its writer or we are at it, or it cannot be removed."""
        return any(
            (directory, name) in names for names in (self._unfinished, self._in_the_way, self._under_way)
        )

    def leave_in_the_way(self, directory: str, name: str) -> None:
        """It can be neither taken nor removed: not looked at any more."""
        self._in_the_way.add((directory, name))
