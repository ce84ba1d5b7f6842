"""How the whole stands, over HTTP: for people, and for programs that watch."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.standing import StatusReport, status_report
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.records.tokens import Scope
from orchestrator.core.metrics import Reading


def standing_routes(
    services: Services, program_caller: Callable[..., Awaitable[OperatorCaller | KeyCaller]]
) -> APIRouter:
    """`/api/v1/standing` and `/metrics`. program_caller: the dependency that names the caller."""
    router = APIRouter(tags=["standing"])

    async def reader(caller: Annotated[OperatorCaller | KeyCaller, Depends(program_caller)]) -> None:
        check_scope(caller, Scope.READ)

    @router.get("/api/v1/standing", dependencies=[Depends(reader)])
    async def get_standing() -> StatusReport:
        """What `dovecote status` shows."""
        return await status_report(services)

    @router.get("/metrics", dependencies=[Depends(reader)])
    async def get_metrics() -> Response:
        """What `dovecote status` shows in numbers, in the text format of Prometheus."""
        from orchestrator.api.metrics_page import CONTENT_TYPE, metrics_page

        report = await status_report(services)
        reading = Reading(standing=report.standing, refused=report.refused, troubles=report.troubles)
        return Response(metrics_page(reading), media_type=CONTENT_TYPE)

    return router
