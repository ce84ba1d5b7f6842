"""`dovecote image`: what is built, what is inside, and what is given back, by a real engine."""

import json
from collections.abc import Iterator
from pathlib import Path

import docker
import docker.errors
import pytest

from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import new_id
from orchestrator.contracts.version import IMAGE
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import own_image, own_stamps
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.stage import BASE_IMAGE
from tests.edges.cli.conftest import Dovecote

NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The one of this machine."""
    made = Engine()
    try:
        made.run(lambda client: client.images.get(BASE_IMAGE))
    except (DovecoteError, docker.errors.ImageNotFound) as error:
        made.close()
        lacking(str(error))
    yield made
    made.close()


@pytest.fixture
def repository(engine: Engine) -> Iterator[str]:
    """Names that are this test's alone; what was built under them goes with it."""
    name = f"dovecote-test-{new_id('image')}"
    yield name

    def forget(client: docker.DockerClient) -> None:
        for image in client.images.list(name=name):
            for tag in image.tags:
                client.images.remove(tag, force=True)

    engine.run(forget)


def tags_of(engine: Engine, repository: str) -> list[str]:
    return sorted(
        engine.run(
            lambda client: [tag for image in client.images.list(name=repository) for tag in image.tags]
        )
    )


def use(home: Path, image: str) -> None:
    (home / "dovecote.toml").write_text(f'agent.image = "{image}"\n', encoding="utf-8")


def test_the_image_of_a_checkout_is_named_after_its_very_files() -> None:
    assert own_image() == f"{IMAGE}-{own_stamps().programs}"


@pytest.mark.docker
def test_an_image_is_built_shown_and_pruned_but_for_the_one_in_use(
    dovecote: Dovecote, home: Path, engine: Engine, repository: str
) -> None:
    use(home, f"{repository}:mine")
    missing = dovecote("image", "check")
    built = dovecote("image", "build", "--base", BASE_IMAGE, "--for", "docker")
    shown = dovecote("image", "check", "--json")

    def of_another_checkout(client: docker.DockerClient) -> None:
        client.images.get(f"{repository}:mine").tag(repository, "mine-too")
        lines = f"FROM {repository}:mine\nLABEL dovecote.programs=others\n"
        (home / "Dockerfile").write_text(lines, encoding="utf-8")
        client.images.build(path=str(home), tag=f"{repository}:others", network_mode="none")

    engine.run(of_another_checkout)
    pruned = dovecote("image", "prune")

    assert missing.returncode == 1
    assert f"docker: {repository}:mine: missing\n  → Run: dovecote image build" in missing.stdout
    assert built.returncode == 0, built.stderr
    assert built.stdout.startswith(f"{repository}:mine is ready (no agent programs; sha256:")
    docker_part = json.loads(shown.stdout)[0]
    assert {name: docker_part[name] for name in ("runner", "place", "state", "programs", "mend")} == {
        "runner": "docker",
        "place": f"{repository}:mine",
        "state": "ok",
        "programs": [],
        "mend": None,
    }
    assert f"Removed {repository}:others." in pruned.stdout
    assert tags_of(engine, repository) == [f"{repository}:mine", f"{repository}:mine-too"]


@pytest.mark.docker
def test_the_image_of_another_checkout_is_none_of_ours(
    dovecote: Dovecote, home: Path, engine: Engine, repository: str
) -> None:
    """What is there under the moving tag was built from other files: it is not taken for ours."""
    (home / "Dockerfile").write_text(
        f"FROM {BASE_IMAGE}\nLABEL dovecote.protocol=1 dovecote.programs=others dovecote.version=0\n",
        encoding="utf-8",
    )
    engine.run(
        lambda client: client.images.build(path=str(home), tag=f"{repository}:others", network_mode="none")
    )
    use(home, f"{repository}:others")

    checked = dovecote("image", "check")

    assert checked.returncode == 1
    assert f"docker: {repository}:others: old\n  → Run: dovecote image build" in checked.stdout


def test_what_needs_an_engine_says_so_where_none_answers(dovecote: Dovecote) -> None:
    built = dovecote("image", "build", "--for", "docker", more=NO_ENGINE)
    pruned = dovecote("image", "prune", more=NO_ENGINE)

    for ended in (built, pruned):
        assert ended.returncode != 0
        assert "No Docker engine answers at unix:///nowhere/docker.sock" in ended.stderr
        assert "Traceback" not in ended.stderr
