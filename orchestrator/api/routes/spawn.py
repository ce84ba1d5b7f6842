"""`POST /api/v1/spawn` from outside: a program of this machine starts an agent and gets its result."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from orchestrator.api.closing import Closing
from orchestrator.api.presence import while_present
from orchestrator.api.spawn_body import read_body
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.records.egress import SPAWN_PATH
from orchestrator.contracts.records.tokens import Scope

Object = Mapping[str, object]
ProgramCaller = OperatorCaller | KeyCaller


def spawn_routes(
    services: Services, closing: Closing, program_caller: Callable[..., Awaitable[ProgramCaller]]
) -> APIRouter:
    """Seed 000's route, with its fields, codes and statuses.

    program_caller: the dependency that names the caller.
    """
    router = APIRouter(tags=["agents"])

    @router.post(SPAWN_PATH)
    async def post_spawn(
        caller: Annotated[ProgramCaller, Depends(program_caller)], request: Request
    ) -> Object:
        """Start an agent and answer once it has ended; who hangs up finds the result on its record.

        Body: `task`, and `workspace_path`, `writable_paths`, `timeout_ms`, `parent_agent_id`, `wait`,
        `profile`, `on_parent_exit`, `restart_policy`, `permissions`, `name`, `idempotency_key`.
        """
        check_scope(caller, Scope.SPAWN)
        asked = read_body(await request.body())
        work = spawn_and_wait(services, caller, asked.spec, parent=asked.parent, reword=asked.reword)
        return spawn_response(await while_present(request, closing, work))

    return router
