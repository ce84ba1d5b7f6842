"""Hands messages on in order within a chat, while a slow chat holds up no other."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any, Final

import structlog

from orchestrator.channels.whatsapp.albums import album_first, count_of, is_followed
from orchestrator.channels.whatsapp.fetching import Fetching, with_file
from orchestrator.channels.whatsapp.lines import Album, Heard
from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.core.backoff import delay_s

Taker = Callable[[Heard], Awaitable[None]]
"""Takes a message and what comes with it; returns and raises as `seams.Inbox` does."""

SayOfRow = Callable[[str], Awaitable[None]]
"""Tells the child something about a row by its name."""

_log = structlog.get_logger(__name__)
_FIRST_S: Final = 0.5
_MOST_FAULTS: Final = 3
_MOST_S: Final = 30.0
_ALBUMS_AT_MOST: Final = 4


class Lanes:
    """Runs one task a chat that has something under way. The tasks belong to `tasks`.

    files: fetches the files of messages. confirm: called with the name of a row once its message is stored
    or will never be; keep: once it is stored, but its file is still to come; set_aside: with a message that
    we have a fault at, which is to hold up no other, and what the fault is.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        take: Taker,
        files: Fetching,
        *,
        confirm: SayOfRow,
        keep: SayOfRow,
        set_aside: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._tasks = tasks
        self._take_in = take
        self._files = files
        self._confirm = confirm
        self._keep = keep
        self._set_aside = set_aside
        self._waiting: dict[str, deque[Heard]] = {}
        self._count = 0
        self._driving: set[asyncio.Task[None]] = set()
        self._came = asyncio.Event()

    @property
    def count(self) -> int:
        """Messages that are not confirmed yet."""
        return self._count

    def take(self, heard: Heard) -> None:
        """Hand it on once all earlier ones of its chat are."""
        self._count += 1
        self._came.set()
        self._files.begin(heard)
        chat = heard.chat
        lane = self._waiting.get(chat)
        if lane is not None:
            lane.append(heard)
            return
        self._waiting[chat] = lane = deque([heard])
        self._start(self._drive(chat, lane), name=f"whatsapp lane {chat}")

    def stop(self) -> None:
        """Hand on nothing more; what is not confirmed is said again by the next child."""
        for task in self._driving:
            task.cancel()
        self._files.stop()

    def _start(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        task = self._tasks.create_task(work, name=name)
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)

    async def _drive(self, chat: str, lane: deque[Heard]) -> None:
        while lane:
            arrival = await self._files.in_time(lane.popleft())
            heard, coming = arrival.heard, arrival.coming
            fault = await self._hand_on(heard)
            self._count -= 1
            if fault is not None:
                if coming is not None:
                    coming.cancel()
                await self._set_aside(heard.spool, fault)
            elif coming is None:
                await self._confirm(heard.spool)
            else:
                await self._keep(heard.spool)
                self._start(self._take_late(heard, coming), name=f"whatsapp late file {heard.spool}")
            if heard.album is not None and heard.album.expected:
                await self._gather(lane, heard.album)
        del self._waiting[chat]

    async def _gather(self, lane: deque[Heard], album: Album) -> None:
        """Wait for what belongs to an album as long as it keeps coming, and put it in reading order.

        Behind the next album nobody waits: a sender might open them without end and fill none.
        """
        album_s = self._files.album_s
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ALBUMS_AT_MOST * album_s):
                while (there := count_of(album, lane)) < album.expected and not is_followed(album, lane):
                    async with asyncio.timeout(album_s):
                        while count_of(album, lane) == there and not is_followed(album, lane):
                            self._came.clear()
                            await self._came.wait()
        in_order = album_first(album, lane)
        lane.clear()
        lane.extend(in_order)

    async def _take_late(self, heard: Heard, coming: "asyncio.Task[Path | None]") -> None:
        """A message that is known by now, with the file that it lacked."""
        path = await coming
        if path is not None:
            await self._hand_on(with_file(heard, path))
        await self._confirm(heard.spool)

    async def _hand_on(self, heard: Heard) -> str | None:
        """Until it is stored, or is known never to be taken; its row waits on disk meanwhile.

        The fault that keeps us from taking it, if there is one.
        """
        faults = 0
        for attempt in count(1):
            pause_s = delay_s(attempt, first_s=_FIRST_S, most_s=_MOST_S)
            try:
                await self._take_in(heard)
            except Unavailable as error:
                _log.warning("whatsapp.not_stored", spool=heard.spool, why=error.message, pause_s=pause_s)
            except DovecoteError as error:
                _log.warning("whatsapp.message_refused", spool=heard.spool, why=error.message)
                return None
            except Exception as fault:  # the message's owner: its fault must not end the link for all others
                faults += 1
                _log.exception("whatsapp.message_failed", spool=heard.spool, times=faults)
                if faults == _MOST_FAULTS:
                    return type(fault).__name__
            else:
                return None
            await asyncio.sleep(pause_s)
        raise AssertionError  # `count` has no end
