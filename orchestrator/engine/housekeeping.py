"""What is thrown away after a while, so that nothing grows for ever."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from orchestrator.commands.agents.event_keeping import prune_events
from orchestrator.commands.decisions import expire_proposals
from orchestrator.commands.hearing.judging import BOUND_INCIDENTS
from orchestrator.commands.hearing.sender_rules import review_sender_rules
from orchestrator.commands.saying.attachments import prune_console_files, remove_ended
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.core.chat.bounds import WINDOW
from orchestrator.engine.old_workspaces import remove_old_workspaces
from orchestrator.store import (
    agents,
    messages,
    notices,
    outbox,
    proposals,
    questions,
    requests,
    spawns,
    task_runs,
    trees,
    usage,
)
from orchestrator.store.transaction import Transaction

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
                await review_sender_rules(self._services)
                await remove_ended(self._services)
                await prune_console_files(self._services)
                await prune_events(self._services)
                await remove_old_workspaces(self._services)
            except Unavailable as error:
                _log.warning("housekeeping.store_unavailable", error=error.message)
            await asyncio.sleep(_EVERY_S)

    def prune(self, tx: Transaction) -> None:
        """One round."""
        now = self._services.clock.now()
        keep = timedelta(days=self._services.settings.keep_messages_days)
        requests.prune(tx, before=now - _REPLIES_FOR)
        agents.prune(tx, before=now - _AGENTS_FOR)
        spawns.prune(tx, before=now - _AGENTS_FOR)
        trees.prune(tx, before=now - _AGENTS_FOR)
        expire_proposals(tx, self._services, at=now)
        proposals.prune(tx, before=now - _AGENTS_FOR)
        questions.prune(tx, before=now - _AGENTS_FOR)
        notices.forget(tx, prefix=BOUND_INCIDENTS, before=now - WINDOW)
        gone = messages.prune(tx, before=now - keep) + outbox.prune(tx, before=now - keep)
        gone += task_runs.prune(tx, before=now - keep) + usage.prune(tx, before=now - keep)
        if gone:
            _log.info("housekeeping.pruned", rows=gone)
