"""E11: a directory that is exchanged after it was looked at and before it is mounted.

It is exchanged at that very moment: by a `bwrap` of the test's own, which hands on to the real one, and
before the engine's socket, when the request comes that starts the container.
"""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.runners import host_system
from orchestrator.runners.bubblewrap_runner import BubblewrapRunner
from orchestrator.runners.docker_runner import DockerRunner
from tests.agreement.runners.conftest import lacking
from tests.agreement.runners.stage import Stage, is_seen_from_here, read_line
from tests.support.agent_image import IMAGE

PLACE: Final = "/workspace/global"
ENGINE: Final = "/var/run/docker.sock"
SAYS_WHAT_IS_THERE: Final = f"""
import json, os, sys
found = os.stat('{PLACE}')
print(json.dumps({{'{PLACE}': f'{{found.st_dev}}:{{found.st_ino}}'}}), flush=True)
sys.stdin.read()
"""


@asynccontextmanager
async def bubblewrap_runner(programs: Path, bwrap: Path) -> AsyncIterator[BubblewrapRunner]:
    """One that works here, with this program."""
    runner = BubblewrapRunner(programs_directory=programs, bwrap=bwrap)
    try:
        if (reason := await runner.why_not()) is not None:
            lacking(reason)
        yield runner
    finally:
        await runner.close()


@pytest.mark.bubblewrap
async def test_e11_a_bwrap_that_takes_paths_is_seen_to_have_mounted_another_directory(
    programs: Path, stage: Stage, tmp_path: Path
) -> None:
    """Case E11."""
    bwrap = exchanging_bwrap(stage, tmp_path, takes_descriptors=False)

    async with bubblewrap_runner(programs, bwrap) as runner:
        (tmp_path / "now").touch()
        handle = await runner.start(stage.plan(SAYS_WHAT_IS_THERE))
        try:
            reported = json.loads(await read_line(handle.output()))
            with pytest.raises(StartFailed, match=f"{PLACE} is not {stage.places.shared}"):
                await handle.check_walls(reported)
        finally:
            await handle.close()


@pytest.mark.bubblewrap
async def test_e11_a_bwrap_that_takes_descriptors_mounts_what_was_looked_at_whatever_stands_there_now(
    programs: Path, stage: Stage, tmp_path: Path
) -> None:
    """Case E11."""
    bwrap = exchanging_bwrap(stage, tmp_path, takes_descriptors=True)
    meant = stage.places.shared.stat()

    async with bubblewrap_runner(programs, bwrap) as runner:
        (tmp_path / "now").touch()
        handle = await runner.start(stage.plan(SAYS_WHAT_IS_THERE))
        try:
            reported = json.loads(await read_line(handle.output()))
            await handle.check_walls(reported)
        finally:
            await handle.close()

    assert stage.places.shared.stat().st_ino != meant.st_ino
    assert reported == {PLACE: f"{meant.st_dev}:{meant.st_ino}"}


@pytest.mark.docker
async def test_e11_an_engine_is_seen_to_have_mounted_another_directory(
    agent_image: str | None, stage: Stage, tmp_path: Path
) -> None:
    """Case E11."""
    if agent_image is not None:
        lacking(agent_image)
    shared = stage.places.shared

    async with engine_behind(tmp_path / "engine", on_start=lambda: exchange(shared)) as url:
        runner = DockerRunner(image=IMAGE, engine_url=url)
        handle = await runner.start(stage.plan(SAYS_WHAT_IS_THERE))
        try:
            reported = json.loads(await read_line(handle.output()))
            if not is_seen_from_here(handle.process_ref):
                pytest.skip("the engine counts its processes elsewhere: nobody here can look inside")
            with pytest.raises(StartFailed, match=f"{PLACE} is not {shared}"):
                await handle.check_walls(reported)
        finally:
            await handle.close()
            await runner.close()


def exchange(place: Path) -> None:
    """Put another directory there."""
    place.rename(place.with_name("aside"))
    place.mkdir()


def exchanging_bwrap(stage: Stage, tmp_path: Path, *, takes_descriptors: bool) -> Path:
    """The real one, but that it exchanges the shared directory first, once the file `now` is there."""
    found = host_system.bwrap_programs(None)
    if not found:
        lacking("there is no bwrap")
    if takes_descriptors and not host_system.binds_descriptors(found[0]):
        pytest.skip(f"{found[0]} mounts paths only")
    shared, now = shlex.quote(str(stage.places.shared)), shlex.quote(str(tmp_path / "now"))
    lines = [
        "#!/bin/sh",
        "PATH=/usr/bin:/bin",
        f"if [ -e {now} ]; then rm {now}; mv {shared} {shared}.aside; mkdir {shared}; fi",
        *(() if takes_descriptors else ('if [ "$1" = --help ]; then exit 0; fi',)),
        f'exec {shlex.quote(found[0])} "$@"',
    ]
    program = tmp_path / "bwrap"
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@asynccontextmanager
async def engine_behind(path: Path, *, on_start: Callable[[], None]) -> AsyncIterator[str]:
    """The address of a socket before the engine's; `on_start` is called when a container is to be started."""
    async with asyncio.TaskGroup() as tasks:
        served: list[asyncio.Task[None]] = []

        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.append(tasks.create_task(connect(reader, writer, on_start)))

        async with await asyncio.start_unix_server(serve, path):
            yield f"unix://{path}"
        for each in served:
            each.cancel()


async def connect(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_start: Callable[[], None]
) -> None:
    """One connection to the engine, passed on both ways."""
    there, back = await asyncio.open_unix_connection(ENGINE)
    try:
        async with asyncio.TaskGroup() as ways:
            ways.create_task(pass_on(reader, back, on_start), name="there")
            ways.create_task(pass_on(there, writer), name="back")
    finally:
        writer.close()
        back.close()


async def pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_start: Callable[[], None] | None = None
) -> None:
    """What comes here goes there, to its end."""
    with suppress(OSError):  # either end may hang up
        while chunk := await reader.read(65_536):
            if on_start is not None and b"/start HTTP/1.1" in chunk:
                on_start()
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
