"""A home with a real program, for each provider that comes with one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.runners.agent_programs import is_complete
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import agents_inside, labels_of
from tests.agreement.runners.conftest import lacking
from tests.support.agent_image import IMAGE
from tests.support.agent_programs import agents_directory
from tests.support.home_on_disk import HomeOnDisk
from tests.support.model_server import running_model_server
from tests.support.real_agents import KEY, PROVIDERS, RealAgents, link_programs


@pytest.fixture(scope="session")
def sandbox_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all homes of these tests find what runs inside; filled by the first."""
    made = tmp_path_factory.mktemp("agents") / "programs"
    made.mkdir()
    made.parent.chmod(0o711)
    return made


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """The provider's name."""
    return str(request.param)


@pytest.fixture
async def agents(home: HomeOnDisk, sandbox_programs: Path, provider: str) -> AsyncIterator[RealAgents]:
    """Agents in bubblewrap sandboxes; no text is lost to a model server that knows another key."""
    installed = agents_directory(provider)
    if not (sandbox_programs / "agents").is_symlink():
        link_programs(sandbox_programs, installed)
    (home.path / "data").mkdir()
    (home.path / "data" / "programs").symlink_to(sandbox_programs)
    async with running_model_server(credential=KEY) as model:
        yield RealAgents(home=home, model=model, provider=provider, runner="bubblewrap")


@pytest.fixture
async def docker_agents(docker_engine: Engine, home: HomeOnDisk) -> AsyncIterator[RealAgents]:
    """Agents in containers, of the one program that is tried there."""
    labels = docker_engine.run(lambda client: labels_of(client, IMAGE)) or {}
    if not is_complete("claude", agents_inside(labels)):
        lacking(f"claude is not in {IMAGE}: dovecote image build --with claude")
    async with running_model_server(credential=KEY) as model:
        yield RealAgents(home=home, model=model, provider="claude", runner="docker")
