"""A home of its own for each test; nothing of it may be left when the test is over."""

import gc
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_handle import remove_container
from tests.agreement.runners.conftest import agent_image as agent_image
from tests.agreement.runners.conftest import lacking
from tests.support.descriptors import open_descriptors
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess


@pytest.fixture
def open_path(tmp_path: Path) -> Path:
    """A directory of this test that agents with a user of their own can pass through."""
    tmp_path.chmod(0o711)
    return tmp_path


@pytest.fixture
async def home(open_path: Path) -> AsyncIterator[HomeOnDisk]:
    """An installation with quick settings and no group but main. At the end nothing of it runs."""
    descriptors = open_descriptors()
    home = HomeOnDisk(open_path)
    yield home
    await home.nothing_left()
    # A thread may be about to close its own; the docker package leaves the socket of a failed connect to the
    # collector.
    await eventually(lambda: gc.collect() >= 0 and open_descriptors() <= descriptors, what=open_descriptors)


@pytest.fixture
def docker_engine(agent_image: str | None, home: HomeOnDisk) -> Iterator[Engine]:
    """The engine of this machine, with the agent image; no container of `home` outlives the test."""
    if agent_image is not None:
        lacking(agent_image)
    engine = Engine()
    yield engine
    for container_id in engine.run(home.containers_now):
        engine.run(partial(remove_container, container_id=container_id))
    engine.close()


@pytest.fixture
async def orchestrator(home: HomeOnDisk) -> AsyncIterator[OrchestratorProcess]:
    """The orchestrator of `home` as a process of its own; stopped in order at the end, if it runs."""
    process = OrchestratorProcess(home)
    yield process
    await process.close()
