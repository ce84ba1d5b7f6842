"""How fast an agent may print: what comes faster waits in its pipe, and so does the agent."""

import asyncio
import contextlib
from dataclasses import replace
from typing import Final

from orchestrator.contracts.seams import Clock
from orchestrator.contracts.wire.container_io import AgentEvent, TurnEnded, TurnStarted
from orchestrator.core.rate_limit import Bucket, take

EVENTS_PER_MINUTE: Final = 20 * 60.0
EVENT_BURST: Final = 200.0
_CHARS_A_TOKEN: Final = 4_096


class OutputRate:
    """The rates of one agent; those who read its output ask here first.

    per_minute, burst: of pairs. They are those of its requests: a text is a text, by whichever way.
    """

    def __init__(self, clock: Clock, *, per_minute: float, burst: float) -> None:
        self._pairs = _Flow(clock, per_minute=per_minute, burst=burst)
        self._events = _Flow(clock, per_minute=EVENTS_PER_MINUTE, burst=EVENT_BURST)

    async def before_pair(self) -> bool:
        """Whether one more pair may be taken; of a living agent it always may, in its time."""
        return await self._pairs.take_token()

    async def before_event(self, event: AgentEvent | None = None) -> None:
        """Return when one more event may be taken; one that is long to store counts as several.

        None: something of the older dialect that stands for an event.
        """
        for _ in range(1 + _stored_chars(event) // _CHARS_A_TOKEN):
            await self._events.take_token()

    def stop_waiting(self) -> None:
        """The agent is dead, so nobody is held back by waiting: what its pipe still holds goes at once,
        of pairs one burst more."""
        self._pairs.stop_waiting()
        self._events.stop_waiting()


class _Flow:
    """One token bucket that is waited for."""

    def __init__(self, clock: Clock, *, per_minute: float, burst: float) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._burst = burst
        self._bucket = Bucket(tokens=burst, at=clock.monotonic())
        self._waits_no_more = asyncio.Event()

    async def take_token(self) -> bool:
        while True:
            self._bucket, wait_s = take(
                self._bucket, self._clock.monotonic(), per_minute=self._per_minute, burst=self._burst
            )
            if wait_s == 0 or self._waits_no_more.is_set():
                return wait_s == 0
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._waits_no_more.wait()

    def stop_waiting(self) -> None:
        if not self._waits_no_more.is_set():
            self._waits_no_more.set()
            self._bucket = replace(self._bucket, tokens=self._bucket.tokens + self._burst)
            self._burst *= 2


def _stored_chars(event: AgentEvent | None) -> int:
    """About how much text of it the store has to work through."""
    match event:
        case TurnStarted(inputs=inputs):
            return sum(map(len, inputs))
        case TurnEnded(inputs=inputs, error=error):
            return sum(map(len, inputs)) + (0 if error is None else len(error.message) + len(error.code))
        case _:
            return 0
