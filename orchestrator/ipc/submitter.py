"""Has requests done: effect, answer, acknowledgement, in this order, each once.

A batch goes to the command layer in order, so that the store commits it together; then replies are
written, then files removed, then keys forgotten. Killed anywhere in between, either the file is still
there or its effect is stored, and a file that is met again is known by its key.
Source: contracts.md section 3.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final

import structlog

from orchestrator.commands.execute import Asked, execute_requests
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.answering import Answering
from orchestrator.ipc.conclusions import Conclusion, failed, refused
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.parse import FileRefusal, ParsedRequest
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.reading import Item
from orchestrator.store import requests
from orchestrator.store.requests import RequestKey

_log = structlog.get_logger(__name__)
_HELD_S: Final = 1.0
"""A box whose request could not be dealt with waits so long: the store is away."""


class Submitter:
    """Deals with what was read. Effects of one box do not overlap: the caller sees to it."""

    def __init__(
        self, services: Services, *, worker: FileWorker, quarantine: Quarantine, executor: Executor
    ) -> None:
        self._services = services
        self._answering = Answering(services, worker=worker, quarantine=quarantine, executor=executor)
        self._on_way_out: Counter[BoxName] = Counter()
        self._gone: list[RequestKey] = []

    async def deal_with(self, items: Sequence[Item]) -> None:
        """Do, answer and remove; what the store or the disk cannot take now stays and is met again."""
        await self.end(await self.do(items), are_many=False)

    async def do(self, items: Sequence[Item]) -> list[Conclusion]:
        """Those that are done or refused, effects durable; what the store cannot take now is left out."""
        conclusions = await self._execute(items)
        known = _keys(conclusions)
        self._on_way_out.update(key.box for key in known)
        if known:
            self._services.checkpoints.reached("request.committed")
        return conclusions

    async def end(self, conclusions: Sequence[Conclusion], *, are_many: bool) -> None:
        """Answer and remove; what the disk cannot take stays and is met again.

        are_many: as of `FileWorker.do`.
        """
        if not conclusions:
            return
        gone = await self._answering.end(conclusions, are_many=are_many)
        self._on_way_out -= Counter(key.box for key in _keys(conclusions))
        self._gone += _keys(gone)

    async def _execute(self, items: Sequence[Item]) -> list[Conclusion]:
        """Verdicts and effects, in order; what the store could not commit is left out."""
        asked = [_asked(item, item.verdict) for item in items if isinstance(item.verdict, ParsedRequest)]
        outcomes = iter(await self._outcomes(asked))
        conclusions: list[Conclusion] = []
        for item in items:
            if isinstance(item.verdict, FileRefusal):
                conclusions.append(Conclusion(item=item, reply=refused(item.verdict)))
            elif (reply := self._reply(item, next(outcomes))) is not None:
                conclusions.append(Conclusion(item=item, reply=reply))
        return conclusions

    async def _outcomes(self, asked: Sequence[Asked]) -> list[Reply | Exception]:
        if not asked:
            return []
        gone, self._gone = self._gone, []
        try:
            return await execute_requests(self._services, asked, gone=gone, on_way_out=dict(self._on_way_out))
        except Unavailable as error:
            self._gone += gone
            return [error] * len(asked)

    def _reply(self, item: Item, outcome: Reply | Exception) -> Reply | None:
        """The answer; None if the request has to wait for the store or the disk."""
        if isinstance(outcome, Reply):
            return outcome
        lane = item.candidate.lane
        if isinstance(outcome, Unavailable):
            _log.warning("request.held", box=lane.box.name, error=outcome.message)
            lane.give_token_back()
            lane.hold(until=self._services.clock.monotonic() + _HELD_S)
            return None
        # A request on which our own code fails would otherwise end the process at each start again.
        directory = item.candidate.directory
        _log.error("request.failed", box=lane.box.name, directory=directory, exc_info=outcome)
        return failed(item)

    @property
    def has_gone(self) -> bool:
        """Whether there are keys to be forgotten."""
        return bool(self._gone)

    async def forget_gone(self) -> None:
        """Forget the keys of the files that are removed. While batches follow each other, the next one does.

        A key that stays known for a while, or for ever after a crash, harms nothing: no later file has it.
        """
        if not self._gone:
            return
        gone, self._gone = self._gone, []
        try:
            await self._services.db.run(lambda tx: requests.close_all(tx, gone))
        except Unavailable as error:
            self._gone += gone
            _log.warning("requests.not_forgotten", count=len(gone), error=error.message)


def _keys(conclusions: Sequence[Conclusion]) -> list[RequestKey]:
    """Of those that the store knows."""
    return [each.item.key for each in conclusions if each.has_effect_row and each.item.key is not None]


def _asked(item: Item, request: ParsedRequest) -> Asked:
    assert item.key is not None  # what was parsed was read
    return Asked(
        caller=item.candidate.caller,
        request=request.request,
        key=item.key,
        request_id=request.request_id,
    )
