"""The end of the API: from the moment the orchestrator stops, every request is told so."""

import asyncio

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.seams import Topic, Wakeups


class Stopping(DovecoteError):
    """The orchestrator that answers is about to end."""

    code = ErrorCode.NOT_RUNNING
    retryable = True


class Closing:
    """Open until `begin`; what waits for news then ends at once rather than being cut off."""

    def __init__(self, wakeups: Wakeups) -> None:
        self._wakeups = wakeups
        self._has_begun = asyncio.Event()

    def begin(self) -> None:
        """From now on `check` raises; who listens for news looks again."""
        self._has_begun.set()
        self._wakeups.wake(Topic.CHAT_VIEW)

    def check(self) -> None:
        """Return while the API is open. Raises Stopping."""
        if self._has_begun.is_set():
            raise Stopping(
                "The orchestrator is stopping.", suggestion="Try again in a moment.", retry_after_s=1
            )

    async def begun(self) -> None:
        """Return once it has begun."""
        await self._has_begun.wait()
