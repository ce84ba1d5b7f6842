"""What groups used of their providers, over HTTP."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from orchestrator.commands.services import Services
from orchestrator.commands.usage.usage_report import MAX_DAYS, usage_by_day, usage_by_turn
from orchestrator.contracts.ids import GroupFolder

Object = Mapping[str, object]


def usage_routes(services: Services) -> APIRouter:
    """`/api/v1/usage`."""
    router = APIRouter(prefix="/api/v1/usage", tags=["usage"])

    @router.get("")
    async def get_usage(
        group: str | None = None,
        days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 7,
        by: Literal["day", "turn"] = "day",
    ) -> list[Object]:
        """What was used: by day, the oldest first; or by turn, the newest first."""
        folder = None if group is None else GroupFolder(group)
        look = usage_by_day if by == "day" else usage_by_turn
        return await look(services, folder, days=days)

    return router
