"""A refusal before anything is opened: over HTTP, and of a WebSocket, whose client reads the same words."""

import json

from orchestrator.api.body_limit import Scope, Send
from orchestrator.api.render_errors import error_body, error_headers, status_of
from orchestrator.contracts.errors import DovecoteError


async def deny(scope: Scope, send: Send, error: DovecoteError) -> None:
    """Answer with the error; of a WebSocket its handshake, which a bare close would answer without a word."""
    body = json.dumps(error_body(error)).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        **error_headers(error),
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    await send({"type": f"{kind}.start", "status": status_of(error), "headers": raw})
    await send({"type": f"{kind}.body", "body": body})
