"""No request body is longer than we say; a longer one is refused before it is in memory."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from orchestrator.api.render_errors import body_at
from orchestrator.contracts.errors import LimitExceeded

MAX_BODY_BYTES: Final = 1024 * 1024

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class BodyLimit:
    """ASGI middleware: answers 413 to a body over `max_bytes`, announced or not."""

    def __init__(self, application: Application, *, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._application = application
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its body counted."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > self._max_bytes:
            await self._refuse(scope["path"], send)
            return
        chunks = await self._read(receive)
        if chunks is None:
            await self._refuse(scope["path"], send)
            return
        await self._application(scope, replay(chunks, receive), send)

    async def _read(self, receive: Receive) -> list[Message] | None:
        """The whole body, which is small; None as soon as it is not."""
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._max_bytes:
                return None
            if message["type"] != "http.request" or not message.get("more_body"):
                return messages

    async def _refuse(self, path: str, send: Send) -> None:
        error = LimitExceeded(f"The body is over {self._max_bytes} bytes.", suggestion="Send less at once.")
        body = json.dumps(body_at(path, error)).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def replay(messages: list[Message], receive: Receive) -> Receive:
    """What hands these on again, then what comes next."""
    waiting = iter(messages)

    async def next_message() -> Message:
        for message in waiting:
            return message
        return await receive()

    return next_message
