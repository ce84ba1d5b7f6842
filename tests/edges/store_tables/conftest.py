"""An open store with the shipped schema."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.store.database import Database


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    """The store; closed afterwards."""
    opened = await Database.open(tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None)
    yield opened
    await opened.close()
