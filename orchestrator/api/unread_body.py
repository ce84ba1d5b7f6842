"""A body that nobody would read is refused: who sends one means something by it."""

from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.records.egress import SPAWN_PATH

_NOTHING: Final = frozenset({b"", b"{}", b"null"})
"""What clients send that have nothing to say."""


async def no_unread_body(request: Request) -> None:
    """Nothing stands in the body of a call that takes none. Raises InvalidRequest."""
    route = request.scope.get("route")
    takes_one = not isinstance(route, APIRoute) or route.body_field is not None
    if takes_one or request.method == "GET" or request.url.path == SPAWN_PATH:
        return
    if (await request.body()).strip() not in _NOTHING:
        raise InvalidRequest(
            f"{request.method} {request.url.path[:200]} takes no body.",
            suggestion="Send it without one: what it is about stands in its path.",
        )
