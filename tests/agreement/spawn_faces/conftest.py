"""A family's agent that may start others, and every way in which it is asked for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.edges.commands.conftest import open_desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SpawnBench]:
    """The family's agent, in a turn; plenty of room in every limit."""
    async with open_desk(tmp_path) as desk:
        yield await open_bench(desk)
