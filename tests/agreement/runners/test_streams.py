"""What goes in and comes out of an agent, the same with every runner."""

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.stage import Stage, collect, read_line, run, run_to_end
from tests.support.eventually import eventually

MIB: Final = 1024**2


@pytest.mark.parametrize("size_bytes", [1, 70_000, 5 * MIB], ids=["a byte", "over a pipe", "five MiB"])
async def test_input_arrives_whole_and_then_ends(
    runner: DescribedRunner, stage: Stage, size_bytes: int
) -> None:
    line = os.urandom(size_bytes)

    ran = await run(
        runner,
        stage.plan("import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"),
        line=line,
    )

    assert ran.output.decode().strip() == hashlib.sha256(line).hexdigest()
    assert ran.status.code == 0


async def test_every_byte_passes_unchanged_on_both_streams(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import sys
every = bytes(range(256)) * 600
sys.stdout.buffer.write(every)
sys.stderr.buffer.write(every[::-1])
"""

    ran = await run(runner, stage.plan(code))

    assert ran.output == bytes(range(256)) * 600
    assert ran.log == (bytes(range(256)) * 600)[::-1]


@pytest.mark.slow
async def test_fifty_megabytes_for_a_slow_reader_wait_outside_our_memory(
    runner: DescribedRunner, stage: Stage
) -> None:
    code = """
import os
for n in range(800):
    os.write(1, b'x' * 65_536)
    with open(os.environ['DOVECOTE_WORKSPACE'] + '/written', 'w') as file:
        file.write(str(n))
"""
    handle = await runner.start(stage.plan(code))
    await handle.write_input(b"{}\n")
    before = _resident_bytes()

    try:
        chunks = handle.output()
        first = await anext(chunks)
        await _until_it_stands_still(stage.places.workspace / "written")
        held_bytes = _resident_bytes() - before
        blocks_written = int((stage.places.workspace / "written").read_text())
        rest = sum([len(chunk) async for chunk in chunks])
    finally:
        await handle.close()

    assert blocks_written < 799, "the agent was to wait for its reader"
    assert held_bytes < 16 * MIB
    assert len(first) + rest == 800 * 65_536


async def test_a_flood_on_one_stream_does_not_hold_up_the_other(
    runner: DescribedRunner, stage: Stage
) -> None:
    code = """
import sys, threading
flood = threading.Thread(target=lambda: sys.stderr.write('y' * 30_000_000), daemon=True)
flood.start()
print('heard', flush=True)
flood.join()
"""
    handle = await runner.start(stage.plan(code))
    await handle.write_input(b"{}\n")

    try:
        async with asyncio.timeout(50):
            heard = await read_line(handle.output())
        log = await collect(handle.log_output())
    finally:
        await handle.close()

    assert heard == b"heard\n"
    assert len(log) == 30_000_000


async def test_a_file_renamed_into_the_box_is_seen_inside(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import json, os, time
place = os.environ['DOVECOTE_BOX'] + '/input'
print('waiting', flush=True)
while True:
    for name in os.listdir(place):
        if name.endswith('.json'):
            said = json.load(open(place + '/' + name))
            os.unlink(place + '/' + name)
            if said['type'] == '_close':
                raise SystemExit(0)
            print(said['content'], flush=True)
    time.sleep(0.01)
"""
    handle = await runner.start(stage.plan(code))
    await handle.write_input(b"{}\n")
    lines = handle.output()
    await read_line(lines)

    try:
        _drop(stage.places.box / "input", "1.json", {"type": "message", "content": "good morning"})
        heard = await read_line(lines)
        _drop(stage.places.box / "input", "2-close.json", {"type": "_close"})
        status = await handle.wait()
    finally:
        await handle.close()

    assert heard == b"good morning\n"
    assert status.is_clean
    assert os.listdir(stage.places.box / "input") == []


async def test_an_agent_that_never_reads_does_not_hold_us(runner: DescribedRunner, stage: Stage) -> None:
    handle = await runner.start(stage.plan("import time; time.sleep(600)"))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await handle.write_input(b"x" * 20 * MIB)
    await handle.kill()
    status = await handle.wait()
    await handle.close()

    assert status.code == 137


async def test_writing_to_an_agent_that_has_ended_fails_by_name(
    runner: DescribedRunner, stage: Stage
) -> None:
    handle = await runner.start(stage.plan("pass"))
    await handle.wait()

    try:
        with pytest.raises(StartFailed):
            # More than any pipe on the way holds.
            await handle.write_input(b"x" * 20 * MIB)
    finally:
        await handle.close()


async def test_an_interrupted_writer_leaves_the_agent_to_be_read(
    runner: DescribedRunner, stage: Stage
) -> None:
    handle = await runner.start(stage.plan("print('here'); import sys; sys.stdin.read()"))

    try:
        ran = await run_to_end(handle, line=b"")
    finally:
        await handle.close()

    assert ran.output == b"here\n"


def _drop(directory: Path, name: str, plain: object) -> None:
    (directory / f".{name}.tmp").write_text(json.dumps(plain))
    (directory / f".{name}.tmp").chmod(0o644)
    (directory / f".{name}.tmp").rename(directory / name)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _until_it_stands_still(file: Path) -> None:
    """Until the content has not changed for half a second: whoever writes it waits for somebody."""
    seen: list[str] = []

    def is_still() -> bool:
        seen.append(file.read_text() if file.exists() else "")
        return len(seen) > 50 and len(set(seen[-50:])) == 1 and seen[-1] != ""

    await eventually(is_still)
