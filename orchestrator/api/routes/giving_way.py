"""An orchestrator that a chat runs for itself leaves the home to a daemon that asks."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends

from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import Conflict, ErrorCode


def giving_way_routes(
    give_way: Callable[[], None] | None, managing_caller: Callable[..., Awaitable[OperatorCaller]]
) -> APIRouter:
    """`POST /api/v1/give-way`. give_way: begins an orderly end; None: this one gives way to nobody.

    managing_caller: the dependency that names the caller.
    """
    router = APIRouter(tags=["management"])
    Known = Annotated[OperatorCaller, Depends(managing_caller)]

    @router.post("/api/v1/give-way")
    async def post_give_way(_caller: Known) -> dict[str, bool]:
        """End in order, so that another orchestrator can serve this home."""
        if give_way is None:
            raise Conflict(
                "This orchestrator is nobody's stand-in, and gives way to none.",
                code=ErrorCode.ALREADY_RUNNING,
                suggestion="Stop it, or use it as it is.",
            )
        give_way()
        return {"givesWay": True}

    return router
