"""What is thrown away after a while, so that nothing grows for ever."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.store import agents, messages, outbox, requests, task_runs
from orchestrator.store.database import Transaction

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 600.0
_REPLIES_FOR: Final = timedelta(hours=1)
_AGENTS_FOR: Final = timedelta(days=30)


class Housekeeping:
    """Prunes answered requests, old agents, messages, texts and runs of tasks. Runs until cancelled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Prune now and every ten minutes."""
        while True:
            try:
                await self._services.db.run(self.prune)
            except Unavailable as error:
                _log.warning("housekeeping.store_unavailable", error=error.message)
            await asyncio.sleep(_EVERY_S)

    def prune(self, tx: Transaction) -> None:
        """One round."""
        now = self._services.clock.now()
        keep = timedelta(days=self._services.settings.keep_messages_days)
        requests.prune(tx, before=now - _REPLIES_FOR)
        agents.prune(tx, before=now - _AGENTS_FOR)
        gone = messages.prune(tx, before=now - keep) + outbox.prune(tx, before=now - keep)
        gone += task_runs.prune(tx, before=now - keep)
        if gone:
            _log.info("housekeeping.pruned", rows=gone)
