"""The WhatsApp child as a process: started with one descriptor, and surely gone at its end."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from orchestrator.channels.whatsapp.lines import Stop
from orchestrator.channels.whatsapp.port import LinePort

ChildCommand = Callable[[int, int], Sequence[str]]
"""The words of the child's command, by the descriptor and the generation."""

_KEPT_WORDS: Final = 4_000
_WORDS_WITHIN_S: Final = 1.0
_PASSED_ON: Final = ("PATH", "PYTHONPATH", "HOME", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the child needs of our environment, and none of its credentials."""
    return {name: environment[name] for name in _PASSED_ON if name in environment}


class ChildProcess:
    """A started child. port: where it speaks. Make it by `start`, and `end` it whatever happens."""

    def __init__(
        self, process: asyncio.subprocess.Process, port: LinePort, words: "asyncio.Task[str]"
    ) -> None:
        self._process = process
        self._words = words
        self.port = port

    @classmethod
    async def start(cls, command: ChildCommand, generation: int) -> "ChildProcess":
        """Start it in a session of its own. Raises OSError."""
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *command(theirs.fileno(), generation),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=child_environment(os.environ),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        assert process.stdout is not None
        words = asyncio.ensure_future(  # noqa: TID251 - `end` awaits it
            _last_words(process.stdout)
        )
        return cls(process, await LinePort.on(ours), words)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def end(self, *, within_s: float) -> str:
        """Ask it to stop, kill it when it does not, and reap it; how it ended, in words for operators."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                self.port.put(Stop())
                await self._process.wait()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        code = await self._process.wait()
        await self.port.close()
        # What it started might hold its output open.
        await asyncio.wait([self._words], timeout=_WORDS_WITHIN_S)
        self._words.cancel()
        await asyncio.wait([self._words])
        return _ending(code, "" if self._words.cancelled() else self._words.result())


async def _last_words(output: asyncio.StreamReader) -> str:
    """What it printed at last; all of it is read, so that nothing it prints holds it up."""
    kept = b""
    while chunk := await output.read(64 * 1024):
        kept = (kept + chunk)[-_KEPT_WORDS:]
    return kept.decode(errors="replace")


def _ending(code: int, words: str) -> str:
    """`it was ended by SIGABRT: panic: …`; of what it printed only the line that names the fault."""
    how = f"it was ended by {_signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"
    faults = [line.strip() for line in words.splitlines() if _names_a_fault(line)]
    return f"{how}: {faults[0][:200]}" if faults else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _names_a_fault(line: str) -> bool:
    head = line.split(":", 1)[0]
    return head in ("panic", "fatal error") or (
        head.endswith("Error") and head.replace(".", "").isidentifier()
    )
