"""Long work for a client: given up when the client hangs up, or when the orchestrator stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from starlette.requests import Request

from orchestrator.api.closing import Closing
from orchestrator.contracts.errors import DovecoteError, ErrorCode

Result = TypeVar("Result")
_DISCONNECTED: Final = "http.disconnect"


class Left(DovecoteError):
    """Nobody waits for this answer any more."""

    code = ErrorCode.TIMEOUT


async def while_present(request: Request, closing: Closing, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, whose request was read whole. Raises what it raises, Stopping, and Left."""
    return await _first(work, closing, _left(request))


async def while_open(closing: Closing, work: Coroutine[Any, Any, Result]) -> Result:
    """The same, for a transport that looks after its clients itself."""
    return await _first(work, closing, _never())


async def _first(
    work: Coroutine[Any, Any, Result], closing: Closing, leaving: Coroutine[Any, Any, None]
) -> Result:
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(_outcome(work), name="api work")
        ends = (
            tasks.create_task(closing.begun(), name="api closing"),
            tasks.create_task(leaving, name="api client leaves"),
        )
        await asyncio.wait((working, *ends), return_when=asyncio.FIRST_COMPLETED)
        for task in (working, *ends):
            task.cancel()
    if working.cancelled():
        closing.check()
        raise Left("The client has hung up.")
    outcome = working.result()
    if isinstance(outcome, DovecoteError):
        raise outcome
    return outcome


async def _outcome(work: Coroutine[Any, Any, Result]) -> Result | DovecoteError:
    """A refusal is a value here: as an exception it would come out of a task group in a group."""
    try:
        return await work
    except DovecoteError as error:
        return error


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != _DISCONNECTED:
        pass


async def _never() -> None:
    await asyncio.get_running_loop().create_future()
