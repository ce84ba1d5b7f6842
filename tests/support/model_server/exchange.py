"""One request's answer on its way out: the part of ASGI that the server uses."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any

from tests.support.model_server.received import Received

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ConnectionEnded(Exception):
    """There is nobody to answer any more."""


class Exchange:
    """One answer. drop: closes the connection once what was sent is on its way."""

    def __init__(
        self,
        received: Received,
        *,
        receive: Receive,
        send: Send,
        drop: Callable[[], None],
    ) -> None:
        self.received = received
        self._receive = receive
        self._send = send
        self._drop = drop

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """The status line and headers."""
        self.received.status = status
        lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": lines})

    async def chunk(self, payload: bytes) -> None:
        """A part of the body; a pause of the loop, so that it goes out by itself."""
        await self._send({"type": "http.response.body", "body": payload, "more_body": True})
        await asyncio.sleep(0)

    async def end(self) -> None:
        """Nothing more follows."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def cut(self) -> None:
        """End the connection in the middle; raises ConnectionEnded."""
        self._drop()
        await self._until_gone()
        raise ConnectionEnded

    async def hang(self) -> None:
        """Until the connection ends; raises ConnectionEnded."""
        await self._until_gone()
        raise ConnectionEnded

    async def hold(self, waiting: Coroutine[Any, Any, object]) -> None:
        """Wait for this, unless the connection ends first: raises ConnectionEnded."""
        async with asyncio.TaskGroup() as tasks:
            gone = tasks.create_task(self._until_gone(), name="connection ends")
            wanted = tasks.create_task(waiting, name="step of an answer")
            await asyncio.wait([wanted, gone], return_when=asyncio.FIRST_COMPLETED)
            is_gone = gone.done()
            gone.cancel()
            wanted.cancel()
        if is_gone:
            raise ConnectionEnded

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
