"""Directories that agents may be given as workspaces, over HTTP: listed, allowed, refused by the operator."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict

from orchestrator.commands.services import Services
from orchestrator.commands.spawning.workspaces import (
    approve_workspace,
    list_workspaces,
    reject_workspace,
    remove_workspace,
)
from orchestrator.contracts.callers import OperatorCaller

Object = Mapping[str, object]


class DirectoryBody(BaseModel):
    """A directory. path: absolute."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: str


def workspace_routes(
    services: Services, managing_caller: Callable[..., Awaitable[OperatorCaller]]
) -> APIRouter:
    """`/api/v1/workspaces`. managing_caller: the dependency that names the caller."""
    router = APIRouter(prefix="/api/v1/workspaces", tags=["workspaces"])
    Known = Annotated[OperatorCaller, Depends(managing_caller)]

    @router.get("")
    async def get_workspaces() -> list[Object]:
        """Directories for agents: those of the settings, then what was proposed and what became of each."""
        return await list_workspaces(services)

    @router.post("/approve")
    async def post_approve(caller: Known, body: DirectoryBody) -> Object:
        """Let agents be given a directory, with all below it."""
        return await approve_workspace(services, caller, body.path)

    @router.post("/reject")
    async def post_reject(caller: Known, body: DirectoryBody) -> Object:
        """Let no agent be given a directory."""
        return await reject_workspace(services, caller, body.path)

    @router.post("/remove")
    async def post_remove(caller: Known, body: DirectoryBody) -> Object:
        """Forget a directory."""
        return await remove_workspace(services, caller, body.path)

    return router
