"""WebSockets on our listeners: who does not answer pings is cut off at once."""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MAX_MESSAGE_BYTES: Final = 64 * 1024
"""Of what a reader of events may send us."""
PING_EVERY_S: Final = 20.0
PONG_WITHIN_S: Final = 20.0


class EventProtocol(WebSocketsSansIOProtocol):
    """A WebSocket whose reader may stop reading without holding anything of ours for ever."""

    def keepalive_timeout(self) -> None:
        """He did not answer: what still waits for him would keep an orderly close from ending."""
        super().keepalive_timeout()
        self.transport.abort()
