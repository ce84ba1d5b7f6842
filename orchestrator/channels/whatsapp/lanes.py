"""Hands messages on in order within a chat, while a slow chat holds up no other."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from orchestrator.channels.whatsapp.lines import Heard
from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.core.backoff import delay_s

Taker = Callable[[Heard], Awaitable[None]]
"""Takes a message and what comes with it; returns and raises as `seams.Inbox` does."""

_log = structlog.get_logger(__name__)
_FIRST_S: Final = 0.5
_MOST_S: Final = 30.0


class Lanes:
    """Runs one task a chat that has something under way. The tasks belong to `tasks`.

    confirm: called with the name of a row once its message is stored or will never be.
    """

    def __init__(
        self, tasks: asyncio.TaskGroup, take: Taker, *, confirm: Callable[[str], Awaitable[None]]
    ) -> None:
        self._tasks = tasks
        self._take_in = take
        self._confirm = confirm
        self._waiting: dict[Jid, deque[Heard]] = {}
        self._count = 0
        self._driving: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """Messages that are not confirmed yet."""
        return self._count

    def take(self, heard: Heard) -> None:
        """Hand it on once all earlier ones of its chat are."""
        self._count += 1
        chat = heard.message.chat_jid
        lane = self._waiting.get(chat)
        if lane is not None:
            lane.append(heard)
            return
        self._waiting[chat] = lane = deque([heard])
        task = self._tasks.create_task(self._drive(chat, lane), name=f"whatsapp lane {chat}")
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)

    def stop(self) -> None:
        """Hand on nothing more; what is not confirmed is said again by the next child."""
        for task in self._driving:
            task.cancel()

    async def _drive(self, chat: Jid, lane: deque[Heard]) -> None:
        while lane:
            heard = lane.popleft()
            await self._hand_on(heard)
            self._count -= 1
            await self._confirm(heard.spool)
        del self._waiting[chat]

    async def _hand_on(self, heard: Heard) -> None:
        """Until it is stored, or is known never to be taken; its row waits on disk meanwhile."""
        for attempt in range(1, 1_000_000):
            try:
                await self._take_in(heard)
            except Unavailable as error:
                pause_s = delay_s(attempt, first_s=_FIRST_S, most_s=_MOST_S)
                _log.warning("whatsapp.not_stored", spool=heard.spool, why=error.message, pause_s=pause_s)
                await asyncio.sleep(pause_s)
            except DovecoteError as error:
                _log.warning("whatsapp.message_refused", spool=heard.spool, why=error.message)
                return
            else:
                return
