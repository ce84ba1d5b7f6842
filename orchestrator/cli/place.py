"""Where a command does its work: at the running orchestrator, else on the store, else nowhere yet."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from orchestrator.cli.client import ApiClient, running_client
from orchestrator.cli.home import Home, make_home
from orchestrator.cli.store_services import open_store_services
from orchestrator.commands.services import Services


@contextlib.asynccontextmanager
async def open_place(home: Home) -> AsyncIterator[ApiClient | Services | None]:
    """The running orchestrator; with none running the store, under its lock; None in an unused home.

    To look at an unused home makes nothing in it.
    """
    client = await running_client(home.paths)
    if client is not None:
        async with client:
            yield client
    elif not home.paths.store.exists():
        yield None
    else:
        make_home(home)
        async with open_store_services(home) as services:
            yield services


async def ask_or_look(
    home: Home,
    ask: Callable[[ApiClient], Awaitable[Any]],
    look: Callable[[Services], Awaitable[Any]],
    nothing: Any,
) -> Any:
    """What the running orchestrator says, else what the store holds; `nothing` in an unused home."""
    async with open_place(home) as place:
        match place:
            case ApiClient():
                return await ask(place)
            case Services():
                return await look(place)
            case None:
                return nothing
