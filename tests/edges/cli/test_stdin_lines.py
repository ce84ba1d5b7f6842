"""Standard input as lines: pipes and files, real descriptors."""

import asyncio
import os
from pathlib import Path

import pytest

from orchestrator.cli.stdin_lines import lines_of


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def all_lines(descriptor: int) -> list[str]:
    return [line async for line in lines_of(descriptor)]


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\n\nno end", ["one", "", "no end"]),
        ("grüße\n".encode(), ["grüße"]),
        (b"bad \xff byte\n", ["bad \ufffd byte"]),
        (b"x" * 200_000 + b"\ny", ["x" * 200_000, "y"]),
    ],
    ids=["empty", "two lines", "crlf and no end", "umlaut", "not utf-8", "longer than a chunk"],
)
async def test_a_file_is_read_to_its_end_line_by_line(tmp_path: Path, raw: bytes, lines: list[str]) -> None:
    (tmp_path / "input").write_bytes(raw)

    with (tmp_path / "input").open("rb") as file:
        read = await all_lines(file.fileno())

    assert read == lines


async def test_a_line_of_a_pipe_is_given_before_the_next_one_comes() -> None:
    read_end, write_end = os.pipe()
    lines = lines_of(read_end)

    os.write(write_end, b"first\n")
    first = await anext(lines)
    os.write(write_end, "ü".encode()[:1])
    os.write(write_end, "ü".encode()[1:] + b"\n")
    os.close(write_end)
    rest = [line async for line in lines]

    assert (first, rest) == ("first", ["ü"])
    os.close(read_end)


async def test_a_reader_that_waits_for_a_silent_pipe_can_be_cancelled() -> None:
    before = open_descriptors()
    read_end, write_end = os.pipe()
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(all_lines(read_end))
        await asyncio.sleep(0.05)

        reading.cancel()

    assert reading.cancelled()
    os.close(read_end)
    os.close(write_end)
    assert open_descriptors() == before
