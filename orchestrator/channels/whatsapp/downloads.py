"""Files of messages, fetched when the orchestrator asks for them. Used in the child."""

import asyncio
from typing import Final

from orchestrator.channels.whatsapp.library import FetchFailed, Library
from orchestrator.channels.whatsapp.lines import Fetch, Fetched
from orchestrator.channels.whatsapp.media import MessageFile
from orchestrator.channels.whatsapp.reading import file_of_row
from orchestrator.channels.whatsapp.spool import SpoolRows

_AT_ONCE: Final = 3
"""The library holds a whole file in memory."""


class Downloads:
    """Fetches a few files at once; the others wait for their turn."""

    def __init__(self, rows: SpoolRows, *, generation: int) -> None:
        self._rows = rows
        self._generation = generation
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def fetch(self, library: Library, line: Fetch) -> Fetched:
        """Get the file of a row, and keep it beside the row."""
        try:
            file = file_of_row(library.event, self._rows.read(line.spool))
        except Exception as error:  # foreign bytes, which were read as a message a moment ago
            return self._failed(line, f"{type(error).__name__}: {error}", is_final=True)
        if file is None:
            return self._failed(line, "there is no file in it", is_final=True)
        async with self._turn:
            try:
                async with asyncio.timeout(line.within_s):
                    return await self._keep(library, file, line)
            except TimeoutError:
                return self._failed(line, f"it was not here within {line.within_s:g} s", is_final=False)
            except FetchFailed as error:
                return self._failed(line, str(error), is_final=error.is_final)
            except OSError as error:
                return self._failed(line, error.strerror or str(error), is_final=False)

    async def _keep(self, library: Library, file: MessageFile, line: Fetch) -> Fetched:
        content = await library.fetch(file)
        if len(content) > line.max_bytes:
            return self._failed(line, f"it has {len(content):,} bytes", is_final=True)
        path = await asyncio.to_thread(self._rows.keep_file, line.spool, content)
        return Fetched(generation=self._generation, spool=line.spool, path=path)

    def _failed(self, line: Fetch, why: str, *, is_final: bool) -> Fetched:
        return Fetched(generation=self._generation, spool=line.spool, why=why[:300], is_final=is_final)
