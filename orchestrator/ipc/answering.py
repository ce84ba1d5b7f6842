"""How requests end that were dealt with: answered, then taken away, each step of a batch before the next."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final, TypeVar

import structlog

from orchestrator.commands.services import Services
from orchestrator.ipc.clerk_line import Job
from orchestrator.ipc.conclusions import Conclusion, keep_evidence, put_away, reply_file, request_file
from orchestrator.ipc.file_work import Fate, Outcome
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.threads import in_thread

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_HELD_S: Final = 1.0
"""A box whose request could not be ended waits so long: the disk is full or away."""


class Answering:
    """Ends batches."""

    def __init__(
        self, services: Services, *, worker: FileWorker, quarantine: Quarantine, executor: Executor
    ) -> None:
        self._services = services
        self._worker = worker
        self._quarantine = quarantine
        self._executor = executor
        self._keeping = asyncio.Lock()

    async def end(self, conclusions: Sequence[Conclusion], *, are_many: bool) -> list[Conclusion]:
        """Answer and remove. Those that are gone; the boxes of the others are met again in a while.

        are_many: as of `FileWorker.do`.
        """
        answered = await self._answer(conclusions, are_many=are_many)
        if any(conclusion.has_effect_row for conclusion in conclusions):
            self._services.checkpoints.reached("reply.written")
        gone = await self._take_away(answered, are_many=are_many)
        gone_already = {id(conclusion) for conclusion in gone}
        for conclusion in conclusions:
            if id(conclusion) not in gone_already:
                lane = conclusion.item.candidate.lane
                lane.give_token_back()
                lane.hold(until=self._services.clock.monotonic() + _HELD_S)
        return gone

    async def _answer(self, conclusions: Sequence[Conclusion], *, are_many: bool) -> list[Conclusion]:
        """Those that are answered, as far as there is something to say; the others' disk is full.

        An agent that removed its own `replies` has chosen to get none.
        """
        answered = list(conclusions)
        if any(conclusion.is_evidence for conclusion in answered):
            keep = partial(keep_evidence, answered, self._quarantine, at=self._services.clock.now())
            async with self._keeping:
                answered = await in_thread(self._executor, keep)
        asked, replies = _with(answered, reply_file)
        outcomes = await self._worker.do(Job(replies=replies), are_many=are_many)
        failed = set[int]()
        for conclusion, outcome in zip(asked, outcomes, strict=True):
            if outcome.fate is not Fate.DONE:
                box = conclusion.item.candidate.lane.box.name
                _log.warning("reply.not_written", box=box, error=outcome.why)
            if outcome.fate is Fate.FAILED:
                failed.add(id(conclusion))
        return [conclusion for conclusion in answered if id(conclusion) not in failed]

    async def _take_away(self, conclusions: Sequence[Conclusion], *, are_many: bool) -> list[Conclusion]:
        """Those that are gone; the others are met again, and known by their keys."""
        asked, requests = _with(conclusions, request_file)
        outcomes = await self._worker.do(Job(requests=requests), are_many=are_many)
        gone = [
            conclusion
            for conclusion, outcome in zip(asked, outcomes, strict=True)
            if _is_gone(conclusion, outcome)
        ]
        if len(asked) < len(conclusions):
            no_files = [conclusion for conclusion in conclusions if conclusion.item.file is None]
            gone += await in_thread(self._executor, partial(put_away, no_files))
        return gone


def _with(
    conclusions: Sequence[Conclusion], file_of: Callable[[Conclusion], T | None]
) -> tuple[list[Conclusion], list[T]]:
    """Those that have such a file, and the files."""
    found = [(conclusion, file) for conclusion in conclusions if (file := file_of(conclusion)) is not None]
    return [conclusion for conclusion, _ in found], [file for _, file in found]


def _is_gone(conclusion: Conclusion, outcome: Outcome) -> bool:
    candidate = conclusion.item.candidate
    match outcome.fate:
        case Fate.DONE:
            return True
        case Fate.ANOTHER:
            candidate.lane.stale.add(candidate.directory)
            return True
        case Fate.REFUSED | Fate.FAILED:
            box = candidate.lane.box.name
            _log.warning("request.not_removed", box=box, directory=candidate.directory, error=outcome.why)
            return False
