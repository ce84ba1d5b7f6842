"""A model server, and a client that goes to it and nowhere else."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.model_server.fixtures import model_authority, model_server, tls_model_server
from tests.support.model_server.server import ModelServer

__all__ = ["model_authority", "model_server", "tls_model_server"]


def client_of(server: ModelServer) -> httpx.AsyncClient:
    """A client whose base URL is the server's; a proxy of this machine is not for it."""
    return httpx.AsyncClient(base_url=server.url, trust_env=False, verify=False, timeout=30)


@pytest.fixture
async def client(model_server: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the model server."""
    async with client_of(model_server) as client:
        yield client
