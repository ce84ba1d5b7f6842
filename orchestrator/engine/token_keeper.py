"""Keeps the session tokens of live agents fresh, and the keys that sign them."""

import asyncio
from typing import Final, NoReturn

import structlog

from orchestrator.commands.agents.tokens import renew_tokens, rotate_keys
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import DovecoteError

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 60.0
"""A token is renewed half of its life before its end, so that being late by this does no harm."""


class TokenKeeper:
    """Renews until cancelled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> NoReturn:
        """Look at once and then every minute."""
        while True:
            try:
                await rotate_keys(self._services)
                await renew_tokens(self._services)
            except (DovecoteError, OSError) as error:  # tokens are good for a while yet; this comes again
                _log.error("token.keeper_failed", error=str(error))
            await asyncio.sleep(_EVERY_S)
