"""A child process whose three standard streams are ours, read on demand and never buffered at length."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import IO

from orchestrator.contracts.errors import StartFailed

READ_BYTES = 64 * 1024


async def read_chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """What arrives until the end. The reader stops taking when nobody asks, so the writer waits."""
    while chunk := await reader.read(READ_BYTES):
        yield chunk


async def write_to_end(writer: asyncio.StreamWriter, line: bytes) -> None:
    """Write `line` and return once the kernel has taken it all. Raises StartFailed when nobody reads."""
    try:
        if writer.is_closing():
            raise BrokenPipeError
        # With no room for a rest, `drain` returns only when everything has been taken.
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(line)
        await writer.drain()
    except (BrokenPipeError, ConnectionError) as error:
        raise StartFailed("The agent ended before it had read its input.") from error


class SideChannel(asyncio.Protocol):
    """What the program around an agent says on a descriptor of its own: a first line, then its last words.

    first_line: None if it ended without one. rest: all that came after, once it has ended.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.first_line: asyncio.Future[bytes | None] = loop.create_future()
        self.rest: asyncio.Future[bytes] = loop.create_future()
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        if not self.first_line.done() and (end := self._kept.find(b"\n")) >= 0:
            self.first_line.set_result(bytes(self._kept[:end]))
            del self._kept[: end + 1]

    def eof_received(self) -> None:
        self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        if not self.first_line.done():
            self.first_line.set_result(None)
        if not self.rest.done():
            self.rest.set_result(bytes(self._kept))


class Child:
    """A started process and its streams. `close` gives all descriptors back; the process must be dead."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        *,
        stdin: asyncio.StreamWriter,
        stdout: tuple[asyncio.StreamReader, asyncio.BaseTransport],
        stderr: tuple[asyncio.StreamReader, asyncio.BaseTransport],
        executor: Executor,
    ) -> None:
        self.process = process
        self._stdin = stdin
        self._stdout, self._stdout_transport = stdout
        self._stderr, self._stderr_transport = stderr
        self._executor = executor

    async def write_input(self, line: bytes) -> None:
        """Write standard input to its end and close it. Raises StartFailed when nobody reads it."""
        await write_to_end(self._stdin, line)
        self._stdin.close()

    def output(self) -> AsyncIterator[bytes]:
        """Standard output until its end."""
        return read_chunks(self._stdout)

    def log_output(self) -> AsyncIterator[bytes]:
        """Standard error until its end."""
        return read_chunks(self._stderr)

    async def last_words(self, *, at_most_s: float = 1.0) -> str:
        """What a process that failed wrote to standard error."""
        words = b""
        try:
            async with asyncio.timeout(at_most_s):
                while chunk := await self._stderr.read(READ_BYTES):
                    words = (words + chunk)[-2000:]
        except TimeoutError:
            pass
        return words.decode(errors="replace").strip()

    async def ending(self) -> str:
        """How a process that failed ended, in words: its exit code and what it wrote to standard error."""
        words = await self.last_words()
        try:
            async with asyncio.timeout(1.0):
                code: int | None = await asyncio.shield(self.reap())
        except TimeoutError:
            code = self.process.poll()
        how = "it still runs" if code is None else f"it ended with {code}"
        return f"{how} and said: {words}" if words else f"{how} and said nothing"

    async def reap(self) -> int:
        """Its return code. Call it when the process is ending: a thread waits for it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.process.wait)

    def close(self) -> None:
        """Give back the descriptors. May be called again."""
        if not self._stdin.is_closing():
            self._stdin.transport.abort()
        self._stdout_transport.close()
        self._stderr_transport.close()


def start_process(
    arguments: Sequence[str],
    *,
    executable: str,
    environment: Mapping[str, str],
    directory: str | None = None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own. descriptors: passed on under the same numbers.

    Raises OSError. Call it on the loop's thread: what dies with its parent follows the thread.
    """
    return subprocess.Popen(
        arguments,
        executable=executable,
        env=environment,
        cwd=directory,
        pass_fds=descriptors,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        umask=0o022,
    )


async def adopt(process: subprocess.Popen[bytes], executor: Executor) -> Child:
    """Take over a started process's streams. If that is cut short they are closed; the process is not ended.

    asyncio's own subprocesses are not used: their `wait` needs all output to have been read, and on some
    versions each costs a thread.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with ExitStack() as undo:
        for pipe in (process.stdin, process.stdout, process.stderr):
            undo.callback(pipe.close)
        stdin = await _writer(process.stdin)
        undo.callback(stdin.transport.abort)
        stdout = await _reader(process.stdout)
        undo.callback(stdout[1].close)
        stderr = await _reader(process.stderr)
        undo.pop_all()
    return Child(process, stdin=stdin, stdout=stdout, stderr=stderr, executor=executor)


async def _reader(pipe: IO[bytes]) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=READ_BYTES)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


async def _writer(pipe: IO[bytes]) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def listen_on(descriptor: int) -> tuple[SideChannel, asyncio.BaseTransport]:
    """Take what comes from the read end of a pipe, which is ours from now on."""
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    try:
        transport, protocol = await loop.connect_read_pipe(lambda: SideChannel(loop), pipe)
    except BaseException:
        pipe.close()
        raise
    return protocol, transport
