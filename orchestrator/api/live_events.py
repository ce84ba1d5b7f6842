"""Events over a WebSocket of our own listeners. Source: agents.md section 1."""

from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from orchestrator.api.denials import deny
from orchestrator.api.event_socket import EventSocket, IsKnown
from orchestrator.commands.agents.event_views import EventSight
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import LimitExceeded
from orchestrator.contracts.live_events import LiveEvents

_POLICY_VIOLATION: Final = 1008


class _Accepted:
    """An open WebSocket: a `TextSocket`."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> str | bytes | None:
        received = await self._websocket.receive()
        if received["type"] == "websocket.disconnect":
            return None
        text: str | None = received.get("text")
        return text if text is not None else received.get("bytes", b"")

    async def send(self, text: str) -> None:
        try:
            await self._websocket.send({"type": "websocket.send", "text": text})
        except WebSocketDisconnect as error:
            raise ConnectionResetError("the reader has gone") from error

    async def refuse(self, why: str) -> None:
        try:
            await self._websocket.close(_POLICY_VIOLATION, why)
        except WebSocketDisconnect as error:
            raise ConnectionResetError("the reader has gone") from error


async def serve_events(
    websocket: WebSocket,
    services: Services,
    live: LiveEvents,
    sight: EventSight,
    *,
    is_known: IsKnown,
    subprotocol: str | None,
) -> None:
    """Accept the connection and serve it to its end. is_known: whether its credential is still good."""
    try:
        subscriber = live.subscribe(only=sight.agents)
    except LimitExceeded as error:
        await deny(websocket.scope, websocket.send, error)
        return
    try:
        await websocket.accept(subprotocol)
        await EventSocket(_Accepted(websocket), services, subscriber, sight, is_known).run()
    finally:
        subscriber.close()
