"""Programs of the operator's own, run without a shell, and bounded: what settings call a `command`."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

_REAP_WITHIN_S: Final = 5.0
_PIECE_BYTES: Final = 64 * 1024
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")


class ProgramFailed(Exception):
    """A program did not do what it is for. The text says why, for operators."""


async def feed_program(argv: Sequence[str], text: bytes, *, within_s: float) -> None:
    """Run it with `text` on its standard input; it need not read it. Raises ProgramFailed."""
    process = await _started(argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL)
    async with _ended(process, within_s):
        await process.communicate(text)


async def output_of_program(
    argv: Sequence[str],
    file: Path,
    *,
    within_s: float,
    max_bytes: int,
) -> bytes:
    """What it prints with `file` on its standard input; what is printed beyond `max_bytes` ends it.

    Of our environment it gets what programs need, and no credentials.

    Raises ProgramFailed, and OSError if the file can't be opened.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    with await asyncio.to_thread(file.open, "rb") as opened:
        process = await _started(
            argv, stdin=opened.fileno(), stdout=asyncio.subprocess.PIPE, environment=environment
        )
    assert process.stdout is not None
    printed = b""
    async with _ended(process, within_s):
        while chunk := await process.stdout.read(max_bytes + 1 - len(printed)):
            printed += chunk
            if len(printed) > max_bytes:
                raise ProgramFailed(f"it printed more than {max_bytes} bytes")
        await process.wait()
    return printed


async def _started(
    argv: Sequence[str], *, stdin: int, stdout: int, environment: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    """The program in a session of its own. Raises ProgramFailed."""
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            stdin=stdin,
            stdout=stdout,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ProgramFailed(f"it cannot be started: {error}") from error


@contextlib.asynccontextmanager
async def _ended(process: asyncio.subprocess.Process, within_s: float) -> AsyncIterator[None]:
    """Its end, well and in time; whatever happens it is gone with all that it started."""
    try:
        async with asyncio.timeout(within_s):
            yield
    except BaseException as error:  # a cancellation too: nobody else would see it gone
        # Also when it has ended: what it started may hold its output open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_reaped(process), _REAP_WITHIN_S)
        if isinstance(error, TimeoutError):
            raise ProgramFailed(f"it did not end within {within_s:g} s and was killed") from None
        raise
    if process.returncode != 0:
        raise ProgramFailed(f"it ended with exit code {process.returncode}")


async def _reaped(process: asyncio.subprocess.Process) -> None:
    """Its end, which is not seen before its output was read to the end."""
    if process.stdout is not None:
        while await process.stdout.read(_PIECE_BYTES):
            pass
    await process.wait()
