"""Where files of requests are read, answered and taken away: in a thread, or by the clerk while many come."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final, TypeVar

import structlog

from orchestrator.ipc.clerk_line import Job
from orchestrator.ipc.clerk_process import ClerkLost, ClerkProcess
from orchestrator.ipc.file_work import NamedFile, Outcome, Unread, take_away, write_reply
from orchestrator.ipc.threads import in_thread
from orchestrator.store.entry import ReadFile

T = TypeVar("T")

_log = structlog.get_logger(__name__)
_MAX_LOST: Final = 3
"""After so many that were lost or did not start no more are tried: a thread does the same, slowly."""


class FileWorker:
    """The clerk has one job at a time; what is done in a thread does not wait for it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.clerk: ClerkProcess | None = None
        """The one that was started and not sent home."""
        self._is_wanted = False
        self._lost = 0
        self._one_at_a_time = asyncio.Lock()

    async def read(self, named: Sequence[NamedFile]) -> list[ReadFile | Unread] | None:
        """What the clerk finds in each of the files, in order; None if there is none, or it was lost."""
        return await self._by_clerk(lambda clerk: clerk.read(Job(named=named)))

    async def do(self, job: Job, *, are_many: bool) -> list[Outcome]:
        """How each reply and removal went, in order. are_many: they are worth the way to the clerk."""
        if not job.replies and not job.requests:
            return []
        done = await self._by_clerk(lambda clerk: clerk.do(job)) if are_many else None
        return done if done is not None else await in_thread(self._executor, partial(_do_here, job))

    async def say_calm(self) -> None:
        """Nothing more is known to come: the clerk may do what it put off. No error if there is none."""
        if self.clerk is not None:
            await self._by_clerk(lambda clerk: clerk.do(Job()))

    async def send_clerk_home(self) -> None:
        """Nothing is left for it. No error if there is none."""
        async with self._one_at_a_time:
            clerk, self.clerk, self._is_wanted = self.clerk, None, False
            if clerk is not None:
                await in_thread(self._executor, clerk.end)

    def want_clerk(self) -> None:
        """So much is under way that a clerk is worth its start."""
        self._is_wanted = True

    async def _by_clerk(self, work: Callable[[ClerkProcess], T]) -> T | None:
        """What the clerk answers; None if there is none, and it has to be done here."""
        if not self._is_wanted:
            return None
        async with self._one_at_a_time:
            return await in_thread(self._executor, lambda: self._asked(work))

    def _asked(self, work: Callable[[ClerkProcess], T]) -> T | None:
        """In the thread."""
        if self.clerk is None:
            if self._lost < _MAX_LOST:
                self._start()
            return None
        try:
            return work(self.clerk) if self.clerk.is_ready() else None
        except ClerkLost as error:
            self._lose(self.clerk, error)
            return None

    def _start(self) -> None:
        try:
            self.clerk = ClerkProcess.start()
        except OSError as error:
            self._lost += 1
            _log.warning("clerk.not_started", error=str(error), consequence="bursts take longer")

    def _lose(self, clerk: ClerkProcess, error: ClerkLost) -> None:
        _log.warning("clerk.lost", error=str(error), consequence="its last files are dealt with again")
        self.clerk = None
        self._lost += 1
        clerk.end()


def _do_here(job: Job) -> list[Outcome]:
    return [
        *(write_reply(reply) for reply in job.replies),
        *(take_away(request) for request in job.requests),
    ]
