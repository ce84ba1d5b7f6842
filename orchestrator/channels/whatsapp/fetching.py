"""The files of what one child hears: asked for at once, waited for a while, taken when they come late."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from orchestrator.channels.base import IsRead
from orchestrator.channels.whatsapp.lines import Fetch, Fetched, Heard
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.core.backoff import delay_s

_log = structlog.get_logger(__name__)
_MOST_PAUSE_S: Final = 60.0
_MOST_LATE: Final = 32
_MOST_LIVES: Final = 3
"""A file that so many children died of is not asked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRule:
    """How files are fetched. max_bytes: of one. wait_s: a message waits so long for its file.

    late_s: one that comes within this is taken all the same. tries: how often it is asked for. album_s: so
    long the next photo of an album is waited for.
    """

    max_bytes: int = 16 * 1024**2
    wait_s: float = 30.0
    late_s: float = 600.0
    tries: int = 12
    first_pause_s: float = 2.0
    album_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A message, with its file if that is here. coming: the file, if it is not given up yet."""

    heard: Heard
    coming: "asyncio.Task[Path | None] | None" = None


class Fetching:
    """Works for one child; the tasks belong to `tasks`.

    asked: of each row with a file under way, how many children were asked for it; outlives the child.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        rule: FetchRule,
        *,
        say: Callable[[Fetch], Awaitable[None]],
        is_read: IsRead,
        asked: dict[str, int],
    ) -> None:
        self._tasks = tasks
        self._rule = rule
        self._say = say
        self._is_read = is_read
        self._asked = asked
        self._under_way: dict[str, tuple[asyncio.Task[Path | None], float]] = {}
        self._answers: dict[str, asyncio.Future[Fetched]] = {}
        self._late: set[asyncio.Task[Path | None]] = set()

    @property
    def album_s(self) -> float:
        """So long the next photo of an album is waited for."""
        return self._rule.album_s

    def begin(self, heard: Heard) -> None:
        """Ask for the file of the message, if it has one: the time that it is waited for begins."""
        message = heard.message
        if message is None or not message.files:
            return
        name = f"whatsapp file {heard.spool}"
        task = self._tasks.create_task(self._path(heard.spool, message), name=name)
        until = asyncio.get_running_loop().time() + self._rule.wait_s
        self._under_way[heard.spool] = (task, until)

    async def in_time(self, heard: Heard) -> Arrival:
        """The message once its file is here, or will never be, or was waited for long enough."""
        if heard.spool not in self._under_way:
            return Arrival(heard=heard)
        task, until = self._under_way.pop(heard.spool)
        left_s = until - asyncio.get_running_loop().time()
        try:
            done, _ = await asyncio.wait([task], timeout=max(left_s, 0.0))
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return Arrival(heard=with_file(heard, task.result()))
        if len(self._late) >= _MOST_LATE:
            task.cancel()
            return Arrival(heard=heard)
        _log.info("whatsapp.file_late", spool=heard.spool, waited_s=self._rule.wait_s)
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        return Arrival(heard=heard, coming=task)

    def answer(self, line: Fetched) -> None:
        """What the child says of a file."""
        waiting = self._answers.get(line.spool)
        if waiting is not None and not waiting.done():
            waiting.set_result(line)

    def stop(self) -> None:
        """Fetch nothing more; what is not confirmed is said again by the next child, and asked for again."""
        for task in [*self._late, *(task for task, _ in self._under_way.values())]:
            task.cancel()

    async def _path(self, spool: str, message: InboundMessage) -> Path | None:
        """Where the file lies; None if it will not be here. Cancelled with its child, it counts as asked."""
        if not await self._is_wanted(message):
            return None
        self._asked[spool] = self._asked.get(spool, 0) + 1
        path, why = None, f"{_MOST_LIVES} children ended over it"
        if self._asked[spool] <= _MOST_LIVES:
            try:
                async with asyncio.timeout(self._rule.late_s):
                    path, why = await self._tried(spool)
            except TimeoutError:
                why = f"it was not here within {self._rule.late_s:g} s"
        del self._asked[spool]
        if path is None:
            _log.warning("whatsapp.file_not_fetched", spool=spool, why=why)
        return path

    async def _is_wanted(self, message: InboundMessage) -> bool:
        size_bytes = message.files[0].size_bytes
        if size_bytes > self._rule.max_bytes:
            _log.info("whatsapp.file_too_large", chat=message.chat_jid, size_bytes=size_bytes)
            return False
        try:
            return await self._is_read(message)
        except Unavailable:
            return True  # nobody can tell now; what nobody reads is not kept later

    async def _tried(self, spool: str) -> tuple[Path | None, str]:
        """Where it lies, or why the last try gave nothing."""
        why = ""
        for attempt in range(1, self._rule.tries + 1):
            said = await self._ask(spool)
            if said.path is not None or said.is_final:
                return said.path, said.why
            why = said.why
            if attempt < self._rule.tries:
                first_s = self._rule.first_pause_s
                await asyncio.sleep(delay_s(attempt, first_s=first_s, most_s=_MOST_PAUSE_S))
        return None, why

    async def _ask(self, spool: str) -> Fetched:
        rule = self._rule
        answer: asyncio.Future[Fetched] = asyncio.get_running_loop().create_future()
        self._answers[spool] = answer
        try:
            await self._say(Fetch(spool=spool, max_bytes=rule.max_bytes, within_s=rule.late_s))
            return await answer
        finally:
            del self._answers[spool]


def with_file(heard: Heard, path: Path | None) -> Heard:
    """The message with its file where it lies now."""
    message = heard.message
    if message is None or path is None:
        return heard
    first, *rest = message.files
    here = replace(first, source=path)
    return heard.model_copy(update={"message": replace(message, files=(here, *rest))})
