"""What the tests of the rig share."""

import os
from collections.abc import Iterator

import pytest

from tests.journeys.conftest import open_path as open_path


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """Files of this test are readable by agents with a user of their own."""
    before = os.umask(0o022)
    yield
    os.umask(before)
