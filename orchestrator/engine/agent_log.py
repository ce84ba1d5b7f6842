"""What an agent prints beside its answers: one rotated file a group or helper, bounded whatever it prints."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from orchestrator.contracts.wire.framing import LogLine, OutputItem, OutputReader
from orchestrator.core.text_cleaning import clean_text

_TAIL_LINES: Final = 20


class AgentLogFile:
    """Appends lines to a file of `data/logs/agents/`: `{folder}.log`, a helper's `{agentId}.log`.

    Writing happens in a thread.
    """

    def __init__(self, path: Path, *, max_bytes: int, keep: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._handler: RotatingFileHandler | None = None
        self.tail: list[str] = []
        """The newest lines, for the reason of a failed start."""

    async def write(self, lines: Sequence[str]) -> None:
        """Append lines. A full disk costs log lines, nothing else."""
        if not lines:
            return
        self.tail = [*self.tail, *lines][-_TAIL_LINES:]
        await asyncio.to_thread(self._append, [clean_text(line) for line in lines])

    async def drain(
        self,
        chunks: AsyncIterator[bytes],
        *,
        new: Callable[[Sequence[str]], Sequence[str]],
        also: Callable[[Sequence[str]], Awaitable[None]],
    ) -> None:
        """Append a stream, such as standard error, until its end. new: says which of its lines are to be
        appended; also: is given the same."""
        reader = OutputReader()
        async for chunk in chunks:
            await self._append_lines(new(_lines(reader.feed(chunk))), also)
        await self._append_lines(new(_lines(reader.finish())), also)

    async def _append_lines(
        self, lines: Sequence[str], also: Callable[[Sequence[str]], Awaitable[None]]
    ) -> None:
        await self.write(lines)
        await also(lines)

    async def close(self) -> None:
        """Give back the file."""
        if self._handler is not None:
            await asyncio.to_thread(self._handler.close)
            self._handler = None

    def _append(self, lines: Sequence[str]) -> None:
        if self._handler is None:
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError:
                return  # these lines are lost, the next ones are tried
            self._handler = RotatingFileHandler(
                self._path,
                maxBytes=self._max_bytes,
                backupCount=self._keep,
                encoding="utf-8",
                errors="replace",
                delay=True,  # opened by `emit`, whose errors are ignored
            )
            self._handler.handleError = _ignore  # type: ignore[method-assign]  # the documented hook
        for line in lines:
            self._handler.emit(logging.LogRecord("agent", logging.INFO, "", 0, line, None, None))


def _lines(items: Iterable[OutputItem]) -> list[str]:
    return [item.text for item in items if isinstance(item, LogLine)]


def _ignore(record: logging.LogRecord) -> None:
    """A log line that can't be written is dropped: the disk is watched elsewhere."""
