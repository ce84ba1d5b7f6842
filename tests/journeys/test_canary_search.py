"""The search for a leaked credential finds it wherever one is put: what it does not find is not there."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import docker
import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.runners.docker_engine import Engine
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.stage import BASE_IMAGE
from tests.support.canary_inside import agents_below, layers_with, memory_with, seen_with
from tests.support.canary_search import files_with, processes_with

CANARY: Final = "sk-canary-in-the-search-4f8e2a"
WAITS: Final = "print('up', flush=True); input()"
HOLDS: Final = f"held = bytes(reversed({CANARY[::-1].encode()!r})); {WAITS}"
"""Has it in its memory, and not in its words."""


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a child that is ended afterwards; it is up when this returns."""
    begun: list[subprocess.Popen[str]] = []

    def starting(*words: str, **more: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **more}
        )
        begun.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "up\n"
        return child

    yield starting
    for child in begun:
        child.communicate("\n", timeout=30)


def test_it_finds_files_names_and_links(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"\0\xff" + CANARY.encode())
    (tmp_path / "link").symlink_to(f"/nowhere/{CANARY}")
    (tmp_path / f"name-{CANARY}").touch()

    found = files_with(CANARY.encode(), tmp_path)

    assert sorted(Path(each).name for each in found) == ["file", "link", f"name-{CANARY}"]


@pytest.mark.parametrize("place", ["cmdline", "environ"])
def test_it_finds_words_and_variables_of_a_process(
    start: Callable[..., subprocess.Popen[str]], place: str
) -> None:
    if place == "cmdline":
        child = start(sys.executable, "-c", WAITS, CANARY)
    else:
        child = start(sys.executable, "-c", WAITS, KEY=CANARY)

    assert processes_with(CANARY.encode(), below=os.getpid()) == [f"/proc/{child.pid}/{place}"]


def test_it_finds_what_a_process_holds_in_its_memory(start: Callable[..., subprocess.Popen[str]]) -> None:
    holds, clean = start(sys.executable, "-c", HOLDS), start(sys.executable, "-c", WAITS)

    assert memory_with(CANARY.encode(), [holds.pid])
    assert memory_with(CANARY.encode(), [clean.pid]) == []


@pytest.mark.bubblewrap
def test_it_finds_what_only_a_sandbox_sees(start: Callable[..., subprocess.Popen[str]]) -> None:
    if os.geteuid() != 0:
        lacking("what a sandbox sees is looked at by root only")
    system = [word for name in ("lib", "lib64", "bin") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    walls = ("bwrap", "--ro-bind", "/usr", "/usr", *system, "--proc", "/proc", "--tmpfs", "/tmp")
    start(*walls, "--unshare-pid", "/bin/sh", "-c", f"echo {CANARY} > /tmp/leak; echo up; read line")

    agents = agents_below(os.getpid())
    found = seen_with(CANARY.encode(), agents)

    assert any(each.endswith("/root/tmp/leak") for each in found)
    assert any("/root/proc/" in each and each.endswith("/cmdline") for each in found)


@pytest.mark.docker
def test_it_finds_what_a_later_layer_of_an_image_removed() -> None:
    engine = Engine()
    name = f"dovecote-test:{new_id('image')}"
    halves = f"{CANARY[:12]}''{CANARY[12:]}"
    lines = f"FROM {BASE_IMAGE}\nUSER 0\nRUN echo '{halves}' > /leak\nRUN rm /leak\n"

    def build(client: docker.DockerClient) -> None:
        client.images.build(fileobj=io.BytesIO(lines.encode()), tag=name, rm=True, network_mode="none")

    engine.run(build)
    try:
        found = engine.run(lambda client: layers_with(CANARY.encode(), client, name))
        clean = engine.run(lambda client: layers_with(CANARY.encode(), client, BASE_IMAGE))
    finally:
        engine.run(lambda client: client.images.remove(name, force=True))
        engine.close()

    assert len(found) == 1
    assert clean == []
