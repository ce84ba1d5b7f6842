"""What the tests of the driver `claude` share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.edges.container.agent_process import make_home
from tests.edges.container.claude_driver.claude_home import ClaudeHome
from tests.support.agent_programs import agents_directory
from tests.support.model_server import running_model_server


@pytest.fixture(scope="session")
def programs() -> Path:
    """The directory of the agent programs, with claude in it."""
    return agents_directory("claude", holds="claude_agent_sdk/_bundled/claude")


@pytest.fixture
async def claude(tmp_path: Path, programs: Path) -> AsyncIterator[ClaudeHome]:
    """A home for one agent, and the model that its program talks to."""
    async with running_model_server() as server:
        yield ClaudeHome(home=make_home(tmp_path), model=server, programs=programs)
