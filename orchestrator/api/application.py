"""The web application: routes, credentials, errors. Imported only when the server starts."""

from collections.abc import Callable
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, FastAPI, Header, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import Route

from orchestrator.api.body_limit import BodyLimit
from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials, operator_only
from orchestrator.api.gate import Gate, doors_of, peer_of
from orchestrator.api.json_bodies import JsonBodies
from orchestrator.api.render_errors import body_at, error_headers, from_http, status_of
from orchestrator.api.routes.agents import agent_routes
from orchestrator.api.routes.api_keys import api_key_routes
from orchestrator.api.routes.chats import chat_routes
from orchestrator.api.routes.events import event_routes, event_sockets, overview_routes
from orchestrator.api.routes.giving_way import giving_way_routes
from orchestrator.api.routes.health import health_routes
from orchestrator.api.routes.keeping import keeping_routes
from orchestrator.api.routes.manage import manage_routes
from orchestrator.api.routes.proposals import proposal_routes
from orchestrator.api.routes.spawn import spawn_routes
from orchestrator.api.routes.standing import standing_routes
from orchestrator.api.routes.tasks import seen_routes, task_routes
from orchestrator.api.routes.usage import usage_routes
from orchestrator.api.routes.workspaces import workspace_routes
from orchestrator.api.toolsets.lazy import Toolsets
from orchestrator.api.toolsets.places import TOOLSET_PATHS
from orchestrator.api.unknown_words import from_request, no_unknown_query
from orchestrator.api.unread_body import no_unread_body
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.live_events import LiveEvents
from orchestrator.contracts.seams import ConsoleDoor
from orchestrator.contracts.version import VERSION

_log = structlog.get_logger(__name__)


class _Callers:
    """Who asks, for the routes to depend on. Nobody is answered any more once `closing` has begun."""

    def __init__(self, credentials: Credentials, closing: Closing) -> None:
        self._credentials = credentials
        self._closing = closing

    async def still_open(self) -> None:
        """Raises Unavailable once it has begun."""
        self._closing.check()

    async def program_caller(
        self, connection: HTTPConnection, authorization: Annotated[str | None, Header()] = None
    ) -> OperatorCaller | KeyCaller:
        """Whoever has a bearer. Raises Unauthorized, LimitExceeded."""
        return await self._credentials.caller(authorization, peer=peer_of(connection.scope))

    async def managing_caller(
        self, connection: HTTPConnection, authorization: Annotated[str | None, Header()] = None
    ) -> OperatorCaller:
        """The operator, or a key of the scope `manage`. Raises Unauthorized, Forbidden, LimitExceeded."""
        return operator_only(await self.program_caller(connection, authorization))

    async def opener(self, websocket: WebSocket, authorization: str | None) -> OperatorCaller | KeyCaller:
        """Who opens a WebSocket. Raises as `still_open` and `program_caller` do."""
        self._closing.check()
        return await self._credentials.caller(authorization, peer=peer_of(websocket.scope))


def make_application(
    services: Services,
    door: ConsoleDoor,
    credentials: Credentials,
    closing: Closing,
    live: LiveEvents,
    toolsets: Toolsets,
    *,
    give_way: Callable[[], None] | None = None,
) -> FastAPI:
    """Every route but health needs a bearer; those of management the operator's.

    give_way: as of its route.
    """
    callers = _Callers(credentials, closing)
    application = FastAPI(
        title="Dovecote",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(callers.still_open)],
    )
    application.add_middleware(JsonBodies, besides=TOOLSET_PATHS)
    application.add_middleware(BodyLimit)
    # Outermost, since it was added last.
    application.add_middleware(Gate, doors=doors_of(services.settings.api))
    application.include_router(health_routes())
    # What a body holds is looked at once it is known who sent it.
    to_operators = [Depends(callers.managing_caller), Depends(no_unread_body), Depends(no_unknown_query)]
    for router in _management(services, door, closing, callers):
        application.include_router(router, dependencies=to_operators)
    application.include_router(
        giving_way_routes(give_way, callers.managing_caller), dependencies=to_operators
    )
    application.include_router(_schema_route(application), dependencies=[Depends(callers.program_caller)])
    to_all = [Depends(callers.program_caller), Depends(no_unread_body), Depends(no_unknown_query)]
    for router in _of_programs(services, closing, callers):
        application.include_router(router, dependencies=to_all)
    application.router.routes += event_sockets(services, live, callers.opener)
    application.router.routes += [Route(path, toolsets.at(path)) for path in TOOLSET_PATHS]
    _answer_errors(application)
    return application


def _management(
    services: Services, door: ConsoleDoor, closing: Closing, callers: _Callers
) -> tuple[APIRouter, ...]:
    """Routes for the operator and for those who act for him."""
    return (
        manage_routes(services, callers.managing_caller),
        keeping_routes(services, callers.managing_caller),
        chat_routes(services, door, closing),
        task_routes(services),
        proposal_routes(services, callers.managing_caller),
        seen_routes(services),
        usage_routes(services),
        api_key_routes(services),
        workspace_routes(services, callers.managing_caller),
    )


def _of_programs(services: Services, closing: Closing, callers: _Callers) -> tuple[APIRouter, ...]:
    """Routes for all with a bearer, each of which looks at the scope itself."""
    return (
        event_routes(services, callers.program_caller),
        agent_routes(services, closing, callers.program_caller),
        spawn_routes(services, closing, callers.program_caller),
        overview_routes(services, callers.program_caller),
        standing_routes(services, callers.program_caller),
    )


def _schema_route(application: FastAPI) -> APIRouter:
    """`/openapi.json`, for all with a bearer: what a key may not use it may know of."""
    router = APIRouter(include_in_schema=False)

    @router.get("/openapi.json")
    async def schema() -> dict[str, Any]:
        """What routes there are, each with what it does in a sentence."""
        told = application.openapi()
        for methods in told["paths"].values():
            for operation in methods.values():
                # FastAPI would make it of the function's name.
                operation["summary"] = " ".join(operation["description"].partition("\n\n")[0].split())
        return told

    return router


def _answer_errors(application: FastAPI) -> None:
    """Render every error once, in one shape."""

    @application.exception_handler(DovecoteError)
    async def ours(request: Request, error: DovecoteError) -> JSONResponse:
        return _answer(request, error)

    @application.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(request, from_request(request, error.errors()))

    @application.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return _answer(request, from_http(error.status_code, error.detail), status=error.status_code)

    @application.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        _log.error("api.failed", path=request.url.path, exc_info=error)
        return _answer(request, DovecoteError("Something went wrong inside Dovecote; its log says what."))


def _answer(request: Request, error: DovecoteError, *, status: int | None = None) -> JSONResponse:
    body = body_at(request.url.path, error)
    return JSONResponse(body, status_code=status or status_of(error), headers=error_headers(error))
