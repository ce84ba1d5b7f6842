"""What the tests of the container share."""

from pathlib import Path

import pytest

from tests.edges.container.agent_process import Home, make_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Empty directories for one agent."""
    return make_home(tmp_path)
