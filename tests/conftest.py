"""What holds for every test."""

import gc
import os
from collections.abc import Iterator

import pytest


def pytest_sessionstart() -> None:
    """What is collected stays: to look for garbage meanwhile takes a fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor need anybody look through thousands of collected tests later."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Each test begins with the umask that most systems have.

    A command that runs inside a test makes all that follows private, and whoever starts the tests may have
    another one.
    """
    before = os.umask(0o022)
    yield
    os.umask(before)
