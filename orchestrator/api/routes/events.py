"""What happened to agents, over HTTP in pages and over a WebSocket as it happens."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, WebSocket
from starlette.routing import WebSocketRoute

from orchestrator.api.denials import deny
from orchestrator.api.live_events import serve_events
from orchestrator.commands.agents.event_views import (
    MAX_EVENTS,
    MAX_WAIT_S,
    EventChoice,
    check_tree,
    flat,
    newest_page,
    sight_of,
    wait_for_events,
)
from orchestrator.commands.agents.overview import overview
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.contracts.callers import AgentCaller, BearerCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.events import EventClass
from orchestrator.contracts.ids import TreeId
from orchestrator.contracts.live_events import LiveEvents
from orchestrator.contracts.records.egress import EVENT_PATHS
from orchestrator.contracts.records.tokens import Scope

Object = Mapping[str, object]
BEARER_PROTOCOL: Final = "bearer"
"""The WebSocket subprotocol behind which pages, which can set no header, name their token."""
_GONE: Final = frozenset({ErrorCode.UNAUTHORIZED, ErrorCode.FORBIDDEN})


def event_routes(services: Services, program_caller: Callable[..., Awaitable[BearerCaller]]) -> APIRouter:
    """`/api/v1/events`. program_caller: the dependency that names the caller."""
    router = APIRouter(prefix="/api/v1/events", tags=["events"])

    @router.get("")
    async def get_events(
        caller: Annotated[BearerCaller, Depends(program_caller)],
        tree: str | None = None,
        since: Annotated[int | None, Query(ge=0, le=2**62)] = None,
        count: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = 500,
        wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S)] = 0,
        event_class: Annotated[EventClass | None, Query(alias="class")] = None,
        without: Annotated[str, Query(max_length=1_000)] = "",
    ) -> Object:
        """Events behind `since`, oldest first: of a tree by its own numbers, of all by `cursor`.

        Without `since` the newest. wait_s: for so long an answer waits for the first of them. without: types
        that are left out, with commas between them.
        """
        _check(caller)
        tree_id = None if tree is None else TreeId(tree)
        if tree_id is not None:
            await check_tree(services, tree_id)
        sight = await sight_of(services, caller)
        choice = EventChoice(event_class=event_class, without=frozenset(without.split(",")))
        if since is None:
            page = await newest_page(services, tree_id, sight, count=count, choice=choice)
        else:
            page = await wait_for_events(
                services, tree_id, sight, since=since, count=count, wait_s=wait_s, choice=choice
            )
        return {"events": [flat(each) for each in page.events], "since": page.cursor, "more": page.is_full}

    return router


def overview_routes(services: Services, program_caller: Callable[..., Awaitable[BearerCaller]]) -> APIRouter:
    """`/api/v1/overview`: what `dovecote top` shows."""
    router = APIRouter(prefix="/api/v1/overview", tags=["agents"])

    @router.get("")
    async def get_overview(
        caller: Annotated[BearerCaller, Depends(program_caller)],
        ended_within_s: Annotated[float, Query(ge=0, le=86_400)] = 600,
    ) -> list[Object]:
        """The live trees and those that ended lately, with what each agent is doing."""
        _check(caller)
        return await overview(services, caller, ended_within_s=ended_within_s)

    return router


def event_sockets(
    services: Services,
    live: LiveEvents,
    caller_of: Callable[[WebSocket, str | None], Awaitable[BearerCaller]],
) -> list[WebSocketRoute]:
    """The WebSocket at `/` and `/ws`. caller_of: who opens it, by his `Authorization`; may raise."""

    async def events(websocket: WebSocket) -> None:
        authorization, subprotocol = _credential(websocket)
        try:
            caller = await caller_of(websocket, authorization)
            _check(caller)
            sight = await sight_of(services, caller)
        except DovecoteError as error:
            await deny(websocket.scope, websocket.send, error)
            return

        async def is_known() -> bool:
            try:
                _check(await caller_of(websocket, authorization))
            except DovecoteError as error:
                return error.code not in _GONE
            return True

        await serve_events(websocket, services, live, sight, is_known=is_known, subprotocol=subprotocol)

    return [WebSocketRoute(path, events) for path in EVENT_PATHS]


def _check(caller: BearerCaller) -> None:
    """A program needs the right to read; what an agent sees is bounded by its own place."""
    if not isinstance(caller, AgentCaller):
        check_scope(caller, Scope.READ)


def _credential(websocket: WebSocket) -> tuple[str | None, str | None]:
    """What stands for an `Authorization` header, and the subprotocol to agree to."""
    offered = websocket.scope["subprotocols"]
    if len(offered) == 2 and offered[0] == BEARER_PROTOCOL:
        return f"Bearer {offered[1]}", BEARER_PROTOCOL
    return websocket.headers.get("authorization"), None
