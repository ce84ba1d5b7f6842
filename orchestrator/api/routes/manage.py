"""Management over HTTP: the groups, and how the whole is doing."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from pydantic import BaseModel, ConfigDict

from orchestrator.commands.groups.groups import (
    NewGroup,
    add_group,
    change_group,
    list_groups,
    remove_group,
    show_group,
)
from orchestrator.commands.hearing.sender_rules import SenderRulesView, show_sender_rules
from orchestrator.commands.running.running_view import RunningView, running_view
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Group, TriggerPosition


class NewGroupBody(BaseModel):
    """A chat to register; what is left out takes the default. Fields as in `NewGroup`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    jid: str
    folder: str
    name: str | None = None
    trigger: str | None = None
    assistant_name: str | None = None
    requires_trigger: bool = True
    is_main: bool = False
    trigger_position: str = TriggerPosition.START.value
    reply_triggers: bool = True
    timezone: str | None = None
    locale: str | None = None
    adopt: bool = False


def manage_routes(services: Services, managing_caller: Callable[..., Awaitable[OperatorCaller]]) -> APIRouter:
    """`/api/v1/groups` and `/api/v1/status`. managing_caller: the dependency that names the caller."""
    router = APIRouter(prefix="/api/v1", tags=["management"])
    Known = Annotated[OperatorCaller, Depends(managing_caller)]

    @router.get("/status")
    async def get_status() -> RunningView:
        """Groups, running agents, and what waits."""
        return await running_view(services)

    @router.get("/groups")
    async def get_groups() -> list[Group]:
        """All groups in the order of their registration."""
        return await list_groups(services)

    @router.post("/groups", status_code=201)
    async def post_group(caller: Known, body: NewGroupBody) -> Group:
        """Register a chat."""
        fields = body.model_dump()
        return await add_group(services, caller, NewGroup(**fields | {"jid": Jid(body.jid)}))

    @router.get("/groups/{folder}")
    async def get_group(folder: str) -> Group:
        """One group."""
        return await show_group(services, folder)

    @router.get("/groups/{folder}/senders")
    async def get_senders(folder: str) -> SenderRulesView:
        """Who may set the assistant off in a group, and what is wrong with the file that says so."""
        return await show_sender_rules(services, folder)

    @router.patch("/groups/{folder}")
    async def patch_group(caller: Known, folder: str, changes: Annotated[dict[str, Any], Body()]) -> Group:
        """Change some settings of a group."""
        return await change_group(services, caller, folder, changes)

    @router.delete("/groups/{folder}")
    async def delete_group(caller: Known, folder: str) -> Group:
        """Forget that a group is registered; folder and messages stay."""
        return await remove_group(services, caller, folder)

    return router
