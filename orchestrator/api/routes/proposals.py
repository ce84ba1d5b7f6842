"""Wishes of agents over HTTP: what waits for an operator, and what he says to it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from orchestrator.commands.decisions import confirm_proposal, decline_proposal, list_proposals
from orchestrator.commands.recent import MAX_ROWS
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller

Object = Mapping[str, object]


def proposal_routes(
    services: Services, managing_caller: Callable[..., Awaitable[OperatorCaller]]
) -> APIRouter:
    """`/api/v1/proposals`. managing_caller: the dependency that names the caller."""
    router = APIRouter(prefix="/api/v1/proposals", tags=["proposals"])
    Known = Annotated[OperatorCaller, Depends(managing_caller)]

    @router.get("")
    async def get_proposals(count: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 50) -> list[Object]:
        """Proposals: what waits, then what is decided; each the newest first."""
        return await list_proposals(services, count=count)

    @router.post("/{number}/confirm")
    async def post_confirm(caller: Known, number: int) -> Object:
        """Carry a proposal out; `status` tells whether that worked."""
        return await confirm_proposal(services, caller, number)

    @router.post("/{number}/decline")
    async def post_decline(caller: Known, number: int) -> Object:
        """Drop a proposal."""
        return await decline_proposal(services, caller, number)

    return router
