"""Has requests done: effect, answer, acknowledgement, in this order, each once.

A batch goes to the command layer in order, so that the store commits it together; then replies are
written, then files removed, then keys forgotten. Killed anywhere in between, either the file is still
there or its effect is stored, and a file that is met again is known by its key.
Source: contracts.md section 3.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final

import structlog

from orchestrator.commands.execute import execute_request
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.outcome import Conclusion, acknowledge, answer, failed, refused
from orchestrator.ipc.parse import ParsedRequest, Refusal
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.reading import Item
from orchestrator.ipc.threads import in_thread
from orchestrator.store import requests
from orchestrator.store.database import Transaction
from orchestrator.store.requests import RequestKey

_log = structlog.get_logger(__name__)
_HELD_S: Final = 1.0
"""A box whose request could not be dealt with waits so long: the store or the disk is away."""


class Submitter:
    """Deals with what was read. Batches do not overlap: the caller sees to it."""

    def __init__(self, services: Services, *, quarantine: Quarantine, executor: Executor) -> None:
        self._services = services
        self._quarantine = quarantine
        self._executor = executor

    async def deal_with(self, items: Sequence[Item]) -> None:
        """Do, answer and remove; what the store or the disk cannot take now stays and is met again."""
        await self._conclude(await self._execute(items))

    async def _execute(self, items: Sequence[Item]) -> list[Conclusion]:
        """Verdicts and effects, in order; what the store could not commit is left out."""
        replies: dict[int, Reply] = {}
        async with asyncio.TaskGroup() as commands:  # handed over in order, committed together
            for number, item in enumerate(items):
                if isinstance(item.verdict, Refusal):
                    replies[number] = refused(item.verdict)
                else:
                    commands.create_task(self._run(number, item, replies), name="request")
        return [
            Conclusion(item=item, reply=replies[number])
            for number, item in enumerate(items)
            if number in replies
        ]

    async def _run(self, number: int, item: Item, replies: dict[int, Reply]) -> None:
        lane, verdict = item.candidate.lane, item.verdict
        assert isinstance(verdict, ParsedRequest)
        assert item.key is not None
        try:
            replies[number] = await execute_request(
                self._services, lane.caller, verdict.request, key=item.key, request_id=verdict.request_id
            )
        except Unavailable as error:
            _log.warning("request.held", box=lane.box.name, error=error.message)
            lane.give_token_back()
            lane.hold(until=self._services.clock.monotonic() + _HELD_S)
        # A request on which our own code fails would otherwise end the process at each start again.
        except Exception:
            _log.exception("request.failed", box=lane.box.name, directory=item.candidate.directory)
            replies[number] = failed(item)

    async def _conclude(self, conclusions: Sequence[Conclusion]) -> None:
        """Answer, acknowledge, forget: in this order, each step of the whole batch after the one before."""
        if not conclusions:
            return
        has_effects = any(conclusion.has_effect_row for conclusion in conclusions)
        if has_effects:
            self._services.checkpoints.reached("request.committed")
        at = self._services.clock.now()
        answered = await in_thread(self._executor, lambda: answer(conclusions, self._quarantine, at=at))
        if has_effects:
            self._services.checkpoints.reached("reply.written")
        gone = await in_thread(self._executor, lambda: acknowledge(answered))
        known_gone = {id(conclusion) for conclusion in gone}
        for conclusion in conclusions:
            if id(conclusion) not in known_gone:
                lane = conclusion.item.candidate.lane
                lane.give_token_back()
                lane.hold(until=self._services.clock.monotonic() + _HELD_S)
        await self._forget([each.item.key for each in gone if each.has_effect_row and each.item.key])

    async def _forget(self, keys: Sequence[RequestKey]) -> None:
        """One body for all: it can fail only as a whole."""
        if not keys:
            return

        def close_all(tx: Transaction) -> None:
            for key in keys:
                requests.close(tx, key)

        try:
            await self._services.db.run(close_all)
        except Unavailable as error:
            # The rows stay: they are never met again, since no later file has the same key.
            _log.warning("requests.not_forgotten", count=len(keys), error=error.message)
