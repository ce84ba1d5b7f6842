"""A daemon asks the orchestrator that a chat runs for itself to leave it the home."""

import asyncio
from typing import Final

import structlog

from orchestrator.api.operator_token import read_operator_token
from orchestrator.cli.client import ApiClient, NotRunning
from orchestrator.cli.home import Home
from orchestrator.contracts.errors import DovecoteError
from orchestrator.store.instance_lock import holder_pid

_log = structlog.get_logger(__name__)
# One that has just begun opens its API a moment later.
_ASK_TRIES: Final = 20
_LOOK_S: Final = 0.1
# Beside the grace that running turns get at a stop: the outbox, the agents, the store.
_CLOSING_S: Final = 15.0


async def is_left_to_us(home: Home, stop: asyncio.Event) -> bool:
    """Whether who holds the home has agreed to end, and has. stop: set where nobody wants it any more."""
    if not await _agrees(home, stop):
        return False
    settings = home.settings
    within_s = settings.shutdown_grace_s + settings.agent.stop_grace_s + _CLOSING_S
    _log.info("dovecote.taking_over", within_s=within_s)
    for _ in range(round(within_s / _LOOK_S)):
        if stop.is_set():
            return False
        if await asyncio.to_thread(holder_pid, home.paths.lock) is None:
            return True
        await asyncio.sleep(_LOOK_S)
    return False


async def _agrees(home: Home, stop: asyncio.Event) -> bool:
    token = read_operator_token(home.paths.operator_token)
    if token is None:
        return False
    async with ApiClient(home.paths, token) as client:
        for _ in range(_ASK_TRIES):
            try:
                await client.call("POST", "/api/v1/give-way", timeout_s=5)
            except NotRunning:
                if stop.is_set() or await asyncio.to_thread(holder_pid, home.paths.lock) is None:
                    return not stop.is_set()
                await asyncio.sleep(_LOOK_S)
            except DovecoteError:
                return False
            else:
                return True
    return False
