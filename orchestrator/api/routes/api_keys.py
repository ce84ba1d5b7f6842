"""Keys of programs outside, over HTTP: made, listed, removed by the operator."""

from collections.abc import Mapping

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import add_api_key, list_api_keys, remove_api_key

Object = Mapping[str, object]


class NewKeyBody(BaseModel):
    """A key to make. scopes: some of read, spawn, stop, manage."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    scopes: list[str]


def api_key_routes(services: Services) -> APIRouter:
    """`/api/v1/api-keys`."""
    router = APIRouter(prefix="/api/v1/api-keys", tags=["api keys"])

    @router.get("")
    async def get_keys() -> list[Object]:
        """Every key by name, without the key itself."""
        return await list_api_keys(services)

    @router.post("", status_code=201)
    async def post_key(body: NewKeyBody) -> Object:
        """Make a key; `key` is shown this once."""
        return await add_api_key(services, body.name, body.scopes)

    @router.delete("/{name}")
    async def delete_key(name: str) -> Object:
        """Make a key void at once."""
        return await remove_api_key(services, name)

    return router
