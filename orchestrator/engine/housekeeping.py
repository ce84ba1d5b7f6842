"""What is done every ten minutes: what is old goes, and rules that nobody's message had us read are read."""

import asyncio
from typing import Final

import structlog

from orchestrator.commands.agents.event_keeping import prune_events
from orchestrator.commands.hearing.sender_rules import review_sender_rules
from orchestrator.commands.keeping.retention import prune_rows
from orchestrator.commands.saying.attachments import prune_console_files, remove_ended
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.engine.old_workspaces import remove_old_workspaces

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 600.0


class Housekeeping:
    """Prunes rows and files that are old and done with, and looks at `senders.toml`. Runs until cancelled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Prune now and every ten minutes."""
        while True:
            try:
                await self._prune_rows()
                await review_sender_rules(self._services)
                await remove_ended(self._services)
                await prune_console_files(self._services)
                await prune_events(self._services)
                await remove_old_workspaces(self._services)
            except Unavailable as error:
                _log.warning("housekeeping.store_unavailable", error=error.message)
            await asyncio.sleep(_EVERY_S)

    async def _prune_rows(self) -> None:
        if gone := await prune_rows(self._services):
            _log.info("housekeeping.pruned", rows=gone)
