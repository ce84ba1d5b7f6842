"""Whether the orchestrator answers. The one route that needs no token."""

from fastapi import APIRouter

from orchestrator.contracts.version import VERSION


def health_routes() -> APIRouter:
    """`GET /api/health`."""
    router = APIRouter(tags=["health"])

    @router.get("/api/health")
    async def health() -> dict[str, str]:
        """It answers; which version it is."""
        return {"status": "ok", "version": VERSION}

    return router
