"""Does the words to Dovecote that could not be done when they were said. Source: contracts.md section 6."""

import asyncio
from typing import Final

import structlog

from orchestrator.commands.hearing.words_kept import do_left_words
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 10.0


class LeftWords:
    """Looks while `run` runs."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Look every ten seconds, until cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                await do_left_words(self._services)
            except Unavailable as error:
                _log.warning("words.store_unavailable", error=error.message)
