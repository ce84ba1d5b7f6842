"""Standard output while the loop runs, on real pipes."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from container.output import Output, OutputGone
from orchestrator.contracts.wire.container_io import AgentLog
from orchestrator.contracts.wire.framing import EventLine, LogLine, OutputReader, Text


class Pipe:
    """A pipe whose write end an Output has."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.reader = OutputReader()

    def close_reader(self) -> None:
        os.close(self.read_end)
        self.read_end = -1

    async def read_all(self) -> bytes:
        """Everything until the writer closes."""
        return await asyncio.to_thread(self._read_to_end)

    def _read_to_end(self) -> bytes:
        with open(self.read_end, "rb", closefd=False) as file:
            return file.read()


@pytest.fixture
async def pipe() -> AsyncIterator[Pipe]:
    made = Pipe()
    yield made
    for descriptor in (made.read_end, made.write_end):
        if descriptor >= 0:
            os.close(descriptor)


async def test_texts_and_events_of_many_tasks_never_mix(pipe: Pipe) -> None:
    output = Output(pipe.write_end)

    async def talk(number: int) -> None:
        for _ in range(5):
            await output.text(f"{number} " * 5000)
            await output.event(AgentLog(message=f"{number}"))

    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(pipe.read_all())
        async with asyncio.TaskGroup() as talking:
            for number in range(8):
                talking.create_task(talk(number))
        os.close(pipe.write_end)
        pipe.write_end = -1

    items = pipe.reader.feed(reading.result())
    texts = [item.text for item in items if isinstance(item, Text)]
    assert len([item for item in items if isinstance(item, EventLine)]) == 40
    assert len(texts) == 40
    assert all(set(text.split()) == {text[0]} and len(text) == 10_000 for text in texts)


async def test_a_cancelled_speaker_has_still_said_its_whole_text(pipe: Pipe) -> None:
    output = Output(pipe.write_end)
    long = "a" * 60_000 + "\n" + "b" * 5_000
    await output.raw(b"noise\n" * 10_000)

    async with asyncio.TaskGroup() as tasks:
        speaking = tasks.create_task(output.text(long))
        await asyncio.sleep(0)
        stuck = not speaking.done()
        speaking.cancel()
        await asyncio.wait([speaking])
        reading = tasks.create_task(pipe.read_all())
        await output.event(AgentLog(message="after"))
        os.close(pipe.write_end)
        pipe.write_end = -1

    assert stuck, "the pipe must have been full for this to prove anything"
    items = [item for item in pipe.reader.feed(reading.result()) if not isinstance(item, LogLine)]
    assert items == [
        Text(text=long),
        EventLine(plain={"message": "after", "level": "info", "type": "log"}),
    ]


async def test_a_full_pipe_holds_up_the_speaker_and_not_the_loop(pipe: Pipe) -> None:
    output = Output(pipe.write_end)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await output.raw(b"x" * 200_000)

    os.read(pipe.read_end, 65536)
    assert os.get_blocking(pipe.write_end), "other processes share the mode of the pipe"


async def test_a_closed_reader_is_told_to_the_speaker_and_to_all_after_it(pipe: Pipe) -> None:
    output = Output(pipe.write_end)
    pipe.close_reader()

    with pytest.raises(OutputGone):
        await output.text("anybody?")
    with pytest.raises(OutputGone):
        await output.flush()


async def test_a_reader_that_goes_while_a_speaker_waits_wakes_it(pipe: Pipe) -> None:
    output = Output(pipe.write_end)

    async with asyncio.TaskGroup() as tasks:
        speaking = tasks.create_task(is_told_that_it_is_gone(output))
        await asyncio.sleep(0)
        pipe.close_reader()

    assert speaking.result()


async def is_told_that_it_is_gone(output: Output) -> bool:
    with pytest.raises(OutputGone):
        await output.raw(b"x" * 200_000)
    return True
