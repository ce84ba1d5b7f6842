"""The three runners, each made ready once a session; a machine that lacks one skips it, CI fails."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import new_id
from orchestrator.runners.catalog import DescribedRunner
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import ImageState, build_image, image_state, own_stamps
from tests.agreement.runners.stage import BASE_IMAGE, Stage, open_runner
from tests.support.agent_image import IMAGE

KINDS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("process"),
]
WALLED = KINDS[:2]


def lacking(reason: str) -> None:
    """Skip the test, or fail it where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def agent_image() -> str | None:
    """Builds the agent image unless the one that is there fits; a reason if that can't be done."""
    engine = Engine()
    try:
        if engine.run(lambda client: image_state(client, IMAGE, own_stamps())) is not ImageState.OK:
            build_image(engine, name=IMAGE, base=BASE_IMAGE, progress=lambda _: None)
    except DovecoteError as error:
        return str(error)
    finally:
        engine.close()
    return None


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where sandboxes find their programs; filled by the first that needs them."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The runner's name; a test that is not for all of them says so by parametrising it."""
    return str(request.param)


@pytest.fixture
async def runner(kind: str, programs: Path, request: pytest.FixtureRequest) -> AsyncIterator[DescribedRunner]:
    """A runner that can start agents here."""
    if kind == "docker" and (reason := request.getfixturevalue("agent_image")) is not None:
        lacking(reason)
    made = open_runner(kind, programs)
    if (reason := await made.why_not()) is not None:
        await made.close()
        lacking(reason)
    yield made
    await made.close()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """The directories of an agent, of an installation that is this test's alone."""
    return Stage(tmp_path, instance_id=new_id("test"))
