"""Forgetting a person or a group, over HTTP: the operator's alone."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends

from orchestrator.commands.keeping.forgetting import Forgotten, forget_group, forget_person
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller


def keeping_routes(
    services: Services, managing_caller: Callable[..., Awaitable[OperatorCaller]]
) -> APIRouter:
    """`/api/v1/forget`. managing_caller: the dependency that names the caller."""
    router = APIRouter(prefix="/api/v1/forget", tags=["management"])
    Known = Annotated[OperatorCaller, Depends(managing_caller)]

    @router.post("/groups/{folder}")
    async def post_group(caller: Known, folder: str) -> Forgotten:
        """Forget a group with all that is kept of it; what is left is named."""
        return await forget_group(services, caller, folder)

    @router.post("/people/{jid}")
    async def post_person(caller: Known, jid: str) -> Forgotten:
        """Forget what a person wrote and who he is; what is left is named."""
        return await forget_person(services, caller, jid)

    return router
