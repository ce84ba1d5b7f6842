"""A refusal before anything is opened: over HTTP, and of a WebSocket, whose client reads the same words."""

import json
from typing import Final

from orchestrator.api.body_limit import Scope, Send
from orchestrator.api.render_errors import body_at, error_headers, status_of
from orchestrator.contracts.errors import DovecoteError

_IN_WORDS: Final = "websocket.http.response"
_POLICY_VIOLATION: Final = 1008


async def deny(scope: Scope, send: Send, error: DovecoteError) -> None:
    """Answer with the error; of a WebSocket its handshake, which a bare close would answer without a word.

    A server that can't answer a handshake in words gets that close.
    """
    is_socket = scope["type"] == "websocket"
    if is_socket and _IN_WORDS not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": error.message[:100]})
        return
    body = json.dumps(body_at(scope["path"], error)).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        **error_headers(error),
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    kind = _IN_WORDS if is_socket else "http.response"
    await send({"type": f"{kind}.start", "status": status_of(error), "headers": raw})
    await send({"type": f"{kind}.body", "body": body})
