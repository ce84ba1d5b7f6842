"""What holds for every test."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Each test begins with the umask that most systems have.

    A command that runs inside a test makes all that follows private, and whoever starts the tests may have
    another one.
    """
    before = os.umask(0o022)
    yield
    os.umask(before)
