"""Signals within the process: what a transaction woke by `tx.wake` ends here, after the commit."""

import asyncio
from collections.abc import Iterable
from weakref import WeakSet

from orchestrator.contracts.seams import Topic


class TopicListener:
    """One waiter's ear: remembers a wake until it is waited for."""

    def __init__(self, topics: Iterable[Topic]) -> None:
        self.topics = frozenset(topics)
        self._woken = asyncio.Event()

    def hear(self) -> None:
        """Remember that something happened."""
        self._woken.set()

    async def wait(self, *, at_most_s: float) -> bool:
        """Wait for a wake since the last wait; False when the time ran out first."""
        try:
            async with asyncio.timeout(at_most_s):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True


class TopicWakeups:
    """Wakes listeners by topic. Not thread-safe: used from the loop's thread only."""

    def __init__(self) -> None:
        self._listeners: WeakSet[TopicListener] = WeakSet()

    def wake(self, topic: Topic) -> None:
        """Let everybody who listens to `topic` go on."""
        for listener in list(self._listeners):
            if topic in listener.topics:
                listener.hear()

    def listen(self, *topics: Topic) -> TopicListener:
        """An ear for these topics; made before the store is read, waited on after."""
        listener = TopicListener(topics)
        self._listeners.add(listener)
        return listener
