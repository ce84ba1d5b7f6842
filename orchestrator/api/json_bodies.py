"""Every body that is JSON is read as JSON, whatever its sender declares: curl calls all that it sends a form.

A declared type keeps nobody out here: a page that is not ours is stopped by its origin, and each caller needs
a bearer, which no form brings. Source: agents.md section 1.
"""

import json
from collections.abc import Collection
from typing import Final

from starlette.requests import ClientDisconnect, Request

from orchestrator.api.body_limit import Application, Receive, Scope, Send, replay

_TYPE: Final = b"content-type"
_JSON: Final = b"application/json"
_OTHER: Final = b"application/octet-stream"


class JsonBodies:
    """ASGI middleware within the limit of bodies. besides: paths of protocols that look at the type."""

    def __init__(self, application: Application, *, besides: Collection[str]) -> None:
        self._application = application
        self._besides = besides

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its body declared as what it is.

        What is no JSON is not declared as such: it would be complained of before it is known who sent it.
        """
        if scope["type"] != "http" or scope["path"] in self._besides:
            await self._application(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return  # nobody is there to be answered
        headers = [(name, value) for name, value in scope["headers"] if name.lower() != _TYPE]
        headers.append((_TYPE, _JSON if _is_json(body) else _OTHER))
        whole = {"type": "http.request", "body": body, "more_body": False}
        await self._application({**scope, "headers": headers}, replay([whole], receive), send)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
