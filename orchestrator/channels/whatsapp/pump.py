"""Says to the orchestrator what lies in the spool. Used in the child."""

import asyncio
import contextlib
from typing import Final

from pydantic import ValidationError

from orchestrator.channels.whatsapp.lines import MAX_UNCONFIRMED, Heard, Quarantined, SetAside, encode
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.reading import RowReader
from orchestrator.channels.whatsapp.spool import SpoolRows

_RETRY_DISK_S: Final = 1.0
_TELL_STUCK_AFTER: Final = 5


class Pump:
    """Says rows oldest first, and no more of them than the parent confirms.

    arrived: set when there may be a new one.
    """

    def __init__(self, port: LinePort, rows: SpoolRows, *, generation: int) -> None:
        self._port = port
        self._rows = rows
        self._generation = generation
        self._room = asyncio.Event()
        self._unconfirmed: set[str] = set()
        self.arrived = asyncio.Event()

    async def run(self, reader: RowReader) -> None:
        """Until cancelled."""
        last, stuck = "", dict[str, int]()
        while True:
            self.arrived.clear()
            try:
                names = self._rows.names()
            except OSError:  # the disk, which must not take the process with it: events lie in its memory
                await asyncio.sleep(_RETRY_DISK_S)
                continue
            for name in [each for each in names if each > last or each in stuck]:
                last = max(last, name)
                try:
                    await self._say_row(name, reader)
                except OSError as error:  # the others need not wait for what the disk keeps to itself
                    stuck[name] = stuck.get(name, 0) + 1
                    if stuck[name] == _TELL_STUCK_AFTER:
                        self._quarantined(name, f"it stays in the spool: {error.strerror or error}")
                else:
                    stuck.pop(name, None)
            stuck = {name: tries for name, tries in stuck.items() if name in names}
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RETRY_DISK_S if stuck else None):
                    await self.arrived.wait()

    async def _say_row(self, name: str, reader: RowReader) -> None:
        """Say what the row holds, once the parent has room for it. Raises OSError."""
        while len(self._unconfirmed) >= MAX_UNCONFIRMED:
            self._room.clear()
            await self._room.wait()
        try:
            line = reader.line(name, self._rows.read(name))
            raw = encode(line)
        except OSError:
            raise
        except Exception as error:  # one event that can't be read must not keep all later ones away
            self._rows.quarantine(name)
            # What pydantic says repeats what people wrote.
            why = "" if isinstance(error, ValidationError) else f": {error}"
            self._quarantined(name, f"{type(error).__name__}{why}"[:300])
            return
        if isinstance(line, Heard):
            self._unconfirmed.add(name)
        else:
            self._rows.remove(name)
        await self._port.write_raw(raw)

    def _quarantined(self, name: str, why: str) -> None:
        self._port.put(Quarantined(generation=self._generation, spool=name, why=why))

    def confirmed(self, name: str) -> None:
        """The parent has it."""
        with contextlib.suppress(OSError):  # the row is said again in a later life, and known then
            self._rows.remove(name)
        self.make_room(name)

    def put_aside(self, line: SetAside) -> None:
        """The parent has a fault at it."""
        with contextlib.suppress(OSError):  # as above
            self._rows.quarantine(line.spool)
        self._quarantined(line.spool, line.why)
        self.make_room(line.spool)

    def make_room(self, name: str) -> None:
        """It counts no more among those that the parent has not confirmed."""
        self._unconfirmed.discard(name)
        self._room.set()
