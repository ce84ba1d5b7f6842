"""The model server as pytest fixtures; a `conftest.py` takes them by importing them under their own names."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.model_server.authority import Authority, make_authority
from tests.support.model_server.server import ModelServer, running_model_server


@pytest.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    """A provider on this machine, without TLS, that takes any key."""
    async with running_model_server() as server:
        yield server


@pytest.fixture
def model_authority(tmp_path: Path) -> Authority:
    """A certificate for this machine's names, and who has to be trusted for it."""
    return make_authority(tmp_path)


@pytest.fixture
async def tls_model_server(model_authority: Authority) -> AsyncIterator[ModelServer]:
    """The same provider by TLS."""
    async with running_model_server(authority=model_authority) as server:
        yield server
