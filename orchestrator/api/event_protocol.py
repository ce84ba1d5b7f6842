"""WebSockets on our listeners: who does not answer pings is cut off at once."""

from typing import TYPE_CHECKING, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

MAX_MESSAGE_BYTES: Final = 64 * 1024
"""Of what a reader of events may send us."""
PING_EVERY_S: Final = 20.0
PONG_WITHIN_S: Final = 20.0


class EventProtocol(WebSocketsSansIOProtocol):
    """A WebSocket whose reader may stop reading without holding anything of ours for ever."""

    async def send(self, message: "ASGISendEvent") -> None:
        """As any; a handshake that was refused in words is complete by them.

        Else the server takes the application for one that gave no answer, and logs an error of ours for each
        client that had no good credential.
        """
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def keepalive_timeout(self) -> None:
        """He did not answer: what still waits for him would keep an orderly close from ending."""
        super().keepalive_timeout()
        self.transport.abort()
