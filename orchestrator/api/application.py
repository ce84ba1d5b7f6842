"""The web application: routes, credentials, errors. Imported only when the server starts."""

from typing import Annotated

import structlog
from fastapi import Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from orchestrator.api.body_limit import BodyLimit
from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.api.render_errors import STATUS, error_body, error_headers, from_http, from_validation
from orchestrator.api.routes.chats import chat_routes
from orchestrator.api.routes.health import health_routes
from orchestrator.api.routes.manage import manage_routes
from orchestrator.api.routes.proposals import proposal_routes
from orchestrator.api.routes.tasks import seen_routes, task_routes
from orchestrator.api.routes.usage import usage_routes
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.seams import ConsoleDoor
from orchestrator.contracts.version import VERSION

_log = structlog.get_logger(__name__)


def make_application(
    services: Services, door: ConsoleDoor, credentials: Credentials, closing: Closing
) -> FastAPI:
    """Every route but health needs the operator's bearer; none answers once `closing` has begun."""

    async def known_caller(authorization: Annotated[str | None, Header()] = None) -> OperatorCaller:
        return credentials.caller(authorization)

    async def still_open() -> None:
        closing.check()

    application = FastAPI(
        title="Dovecote",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(still_open)],
    )
    application.add_middleware(BodyLimit)
    application.include_router(health_routes())
    routers = (
        manage_routes(services, known_caller),
        chat_routes(services, door, closing),
        task_routes(services),
        proposal_routes(services, known_caller),
        seen_routes(services),
        usage_routes(services),
    )
    for router in routers:
        application.include_router(router, dependencies=[Depends(known_caller)])
    _answer_errors(application)
    return application


def _answer_errors(application: FastAPI) -> None:
    """Render every error once, in one shape."""

    @application.exception_handler(DovecoteError)
    async def ours(request: Request, error: DovecoteError) -> JSONResponse:
        return _answer(error)

    @application.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(from_validation(error.errors()))

    @application.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return _answer(from_http(error.status_code, error.detail), status=error.status_code)

    @application.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        _log.error("api.failed", path=request.url.path, exc_info=error)
        return _answer(DovecoteError("Something went wrong inside Dovecote; its log says what."))


def _answer(error: DovecoteError, *, status: int | None = None) -> JSONResponse:
    return JSONResponse(
        error_body(error), status_code=status or STATUS[error.code], headers=error_headers(error)
    )
