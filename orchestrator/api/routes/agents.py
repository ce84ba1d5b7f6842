"""Agents and their trees over HTTP: how they stand, and their end."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from orchestrator.api.closing import Closing
from orchestrator.commands.agents.agent_views import (
    agent_views,
    as_listed_tree,
    as_metadata,
    as_tree,
    tree_list,
    tree_view,
)
from orchestrator.commands.agents.agent_waits import is_met, wait_for_agent
from orchestrator.commands.agents.tokens import token_view
from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.spawning.spawn_rendering import as_cascade
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import WaitFor
from orchestrator.contracts.records.tokens import Scope

Object = Mapping[str, object]
ProgramCaller = OperatorCaller | KeyCaller
MAX_WAIT_S = 25.0
_Count = Annotated[int, Query(ge=1, le=1_000)]


def agent_routes(
    services: Services, closing: Closing, program_caller: Callable[..., Awaitable[ProgramCaller]]
) -> APIRouter:
    """`/api/v1/agents` and `/api/v1/trees`. program_caller: the dependency that names the caller.

    A program sees and stops what it started; with the scope `read` it sees all, with `manage` it stops all.
    """
    router = APIRouter(prefix="/api/v1", tags=["agents"])
    Known = Annotated[ProgramCaller, Depends(program_caller)]

    @router.get("/agents")
    async def get_agents(caller: Known) -> Object:
        """Live agents, then those that ended last."""
        return {"agents": [as_metadata(each) for each in await agent_views(services, caller)]}

    @router.get("/agents/{agent_id}")
    async def get_agent(
        caller: Known,
        request: Request,
        agent_id: str,
        wait: WaitFor = WaitFor.NONE,
        wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S)] = MAX_WAIT_S,
    ) -> Object:
        """One agent with all of its output, once it is as `wait` wants or after `wait_s`.

        `askAgain` is in the answer, and true, where it was not as wanted by then.
        """
        view = await wait_for_agent(services, caller, AgentId(agent_id), wait, at_most_s=wait_s)
        told = as_metadata(view)
        return told if is_met(view.status, wait) else {**told, "askAgain": True}

    @router.get("/agents/{agent_id}/token")
    async def get_token(caller: Known, agent_id: str) -> Object:
        """What its session token says, without the token."""
        check_scope(caller, Scope.MANAGE)
        return await token_view(services, agent_id)

    @router.post("/agents/{agent_id}/stop")
    async def post_stop(caller: Known, agent_id: str) -> Object:
        """Stop an agent and all below it, by the id of a tree all of it, and say of each what came of it."""
        check_scope(caller, Scope.STOP)
        return as_cascade(await stop_cascade(services, caller, AgentId(agent_id)))

    @router.get("/trees")
    async def get_trees(caller: Known, count: _Count = 100) -> list[Object]:
        """The trees that live or ended within a day, newest first."""
        check_scope(caller, Scope.READ)
        return [as_listed_tree(each) for each in await tree_list(services, count=count)]

    @router.get("/trees/{tree_id}")
    async def get_tree(caller: Known, tree_id: str) -> Object:
        """One tree with its agents, parents before children."""
        return as_tree(await tree_view(services, caller, tree_id=tree_id))

    return router
