"""An open store with the shipped schema."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.store.database import Database
from tests.support.store_template import lay_store


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    """The store; closed afterwards."""
    await asyncio.to_thread(lay_store, tmp_path / "store.db")
    opened = await Database.open(tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None)
    yield opened
    await opened.close()
