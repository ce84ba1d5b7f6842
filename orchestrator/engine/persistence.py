"""Writing what must not be lost, for as long as the store is away."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.store.transaction import Transaction

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_PAUSE_S: Final = 1.0


async def persist(services: Services, body: Callable[[Transaction], T]) -> T:
    """Run `body` in the store; while it can't commit (a full disk), try again each second.

    The caller waits: what an agent says is then held back in its pipe, not dropped.
    """
    while True:
        try:
            return await services.db.run(body)
        except Unavailable as error:
            _log.error("store.unavailable", error=error.message, suggestion=error.suggestion)
            await asyncio.sleep(_PAUSE_S)
