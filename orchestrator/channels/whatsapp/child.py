"""The WhatsApp child: holds the library, keeps what it hands over, and speaks lines with the orchestrator.

It ends with its parent, with its link, and at a word; it starts no second link. Everything that matters is
on the disk or with the parent, so that it may die at any instruction.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any, Final, assert_never

from orchestrator.channels.whatsapp.library import Ears, Library, LibraryMissing, SendFailed
from orchestrator.channels.whatsapp.lines import (
    MAX_UNCONFIRMED,
    VERSION,
    Beat,
    Confirm,
    Fate,
    GroupsAre,
    Heard,
    Hello,
    LineError,
    LinkState,
    ListGroups,
    NotSent,
    PairingCode,
    PairPhone,
    ParentLine,
    QrCode,
    Quarantined,
    Send,
    Sent,
    StateIs,
    Stop,
    Taken,
    Typing,
    Unlink,
    Unlinked,
    encode,
    parent_line,
)
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.reading import RowReader, row_of
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.channels.whatsapp.spool import SpoolRows
from orchestrator.channels.whatsapp.translate import Me
from orchestrator.channels.whatsapp.verdicts import Verdict, no_connection

_RETRY_DISK_S: Final = 1.0
_NO_DISK: Final = "messages cannot be kept on the disk: {why}"
_NOT_LINKED: Final = "no WhatsApp account is linked"
_MISSING_RETRY_S: Final = 600.0

MakeLibrary = Callable[[Path, Ears], Library]


class Purpose(StrEnum):
    """What the child is for. run: only with a linked account. link: also without one."""

    RUN = "run"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildPlan:
    """What a child is told at its start."""

    session: Path
    purpose: Purpose
    generation: int
    me: Me
    beat_s: float = 5.0


class Child:
    """One life of the child. `run` returns when it is over."""

    def __init__(self, port: LinePort, rows: SpoolRows, plan: ChildPlan, make_library: MakeLibrary) -> None:
        self._port = port
        self._rows = rows
        self._plan = plan
        self._make_library = make_library
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._unconfirmed: set[str] = set()
        self._homeless: list[bytes] = []
        self._said_last = ""

    async def run(self) -> None:
        """Speak until there is nothing more to say."""
        self._say(Hello(generation=self._plan.generation, version=VERSION, library=_library_version()))
        if self._plan.purpose is Purpose.RUN and linked_account(self._plan.session) is None:
            self._state(Verdict(state=LinkState.AUTH_REQUIRED, why=_NOT_LINKED))
            return
        ears = Ears(row=self._keep, state=self._state, qr=self._show_qr)
        try:
            library = self._make_library(self._plan.session, ears)
        except LibraryMissing as error:
            why = str(error)
            self._state(Verdict(state=LinkState.FAILED, why=why, retry_after_s=_MISSING_RETRY_S))
            return
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(work, name=name)
                for name, work in (
                    ("beat", self._beat()),
                    ("pump", self._pump(library)),
                    ("words", self._obey(library, tasks)),
                    ("link", self._link(library)),
                )
            ]
            await self._over.wait()
            await self._find_homes()
            for task in running:
                task.cancel()
        await library.stop()

    def _say(self, line: Any) -> None:
        self._port.put(line)

    def _keep(self, kind: str, raw: bytes) -> None:
        """The first act on an event, on a thread of the library's: it is on the disk when this returns."""
        row = row_of(kind, raw)
        try:
            if self._homeless:
                raise OSError("earlier ones could not be kept")
            self._rows.add(row)
        except OSError as error:
            self._homeless.append(row)
            why = _NO_DISK.format(why=error.strerror or error)
            self._loop.call_soon_threadsafe(self._give_up_link, why)
        self._loop.call_soon_threadsafe(self._arrived.set)

    def _give_up_link(self, why: str) -> None:
        """Take nothing more: the network keeps what nobody takes."""
        if not self._over.is_set():
            self._say(StateIs(generation=self._plan.generation, state=LinkState.CONNECTING, why=why))
        self._said_last = why
        self._over.set()

    async def _find_homes(self) -> None:
        """Events that the disk had no room for, once it has; they lie in memory until then."""
        while self._homeless:
            try:
                self._rows.add(self._homeless[0])
            except OSError:
                await asyncio.sleep(_RETRY_DISK_S)
            else:
                self._homeless.pop(0)
        if self._said_last:
            self._state(Verdict(state=LinkState.FAILED, why=self._said_last))

    def _state(self, verdict: Verdict) -> None:
        self._say(
            StateIs(
                generation=self._plan.generation,
                state=verdict.state,
                why=verdict.why,
                me=tuple(sorted(self._plan.me.ids)),
                retry_after_s=verdict.retry_after_s,
            )
        )
        if verdict.state in (LinkState.FAILED, LinkState.AUTH_REQUIRED):
            self._over.set()

    def _show_qr(self, code: str) -> None:
        if self._plan.purpose is Purpose.LINK:
            self._say(QrCode(generation=self._plan.generation, code=code))
        else:
            self._state(Verdict(state=LinkState.AUTH_REQUIRED, why=_NOT_LINKED))

    async def _beat(self) -> None:
        while True:
            await self._port.write(Beat(generation=self._plan.generation))
            await asyncio.sleep(self._plan.beat_s)

    async def _link(self, library: Library) -> None:
        self._state(Verdict(state=LinkState.CONNECTING))
        self._state(no_connection(await library.connect()))

    async def _pump(self, library: Library) -> None:
        """Say what the spool holds, oldest first, no more than the parent confirms."""
        reader = RowReader(library.event, me=self._plan.me, generation=self._plan.generation)
        last = ""
        while True:
            self._arrived.clear()
            try:
                for name in [each for each in self._rows.names() if each > last]:
                    await self._say_row(name, reader)
                    last = name
            except OSError:  # the disk, which must not take the process with it: events lie in its memory
                await asyncio.sleep(_RETRY_DISK_S)
            else:
                await self._arrived.wait()

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
            why = f"{type(error).__name__}: {error}"[:300]
            self._say(Quarantined(generation=self._plan.generation, spool=name, why=why))
            return
        if isinstance(line, Heard):
            self._unconfirmed.add(name)
        else:
            self._rows.remove(name)
        await self._port.write_raw(raw)

    async def _obey(self, library: Library, tasks: asyncio.TaskGroup) -> None:
        """Do what the parent says until it says stop, or is gone."""
        while (raw := await self._port.read()) is not None:
            try:
                line = parent_line(raw)
            except LineError as error:
                sys.stderr.write(f"LineError: the parent said what is no line: {error}\n")
                break
            if isinstance(line, Stop):
                break
            if isinstance(line, Confirm):
                self._confirmed(line.spool)
            else:
                tasks.create_task(self._do(library, line), name=line.kind)
        self._over.set()

    def _confirmed(self, name: str) -> None:
        with contextlib.suppress(OSError):  # the row is said again in a later life, and known then
            self._rows.remove(name)
        self._unconfirmed.discard(name)
        self._room.set()

    async def _do(self, library: Library, line: ParentLine) -> None:
        generation = self._plan.generation
        match line:
            case Send():
                await self._send(library, line)
            case Typing():
                await library.set_typing(line.chat, is_typing=line.is_typing)
            case ListGroups():
                try:
                    groups = tuple(await library.groups())
                except ValueError as error:
                    self._say(GroupsAre(generation=generation, id=line.id, why=str(error)))
                else:
                    self._say(GroupsAre(generation=generation, id=line.id, groups=groups))
            case PairPhone():
                try:
                    code = await library.pairing_code(line.phone)
                except ValueError as error:
                    self._state(Verdict(state=LinkState.FAILED, why=str(error)))
                else:
                    self._say(PairingCode(generation=generation, code=code))
            case Unlink():
                self._say(Unlinked(generation=generation, why=await library.unlink()))
            case Confirm() | Stop():
                raise AssertionError(line.kind)
            case _:
                assert_never(line)

    async def _send(self, library: Library, line: Send) -> None:
        generation = self._plan.generation
        # In the kernel before the library hears of it: if we die now the parent knows that it may have.
        await self._port.write(Taken(generation=generation, id=line.id))
        try:
            receipt = await library.send(line.message)
        except SendFailed as error:
            self._say(NotSent(generation=generation, id=line.id, fate=error.fate, why=str(error)[:300]))
        except Exception as error:  # a fault within the library; whether the text had left, nobody knows
            why = f"{type(error).__name__}: {error}"[:300]
            self._say(NotSent(generation=generation, id=line.id, fate=Fate.UNKNOWN, why=why))
        else:
            sent_at, message_id = receipt.sent_at, receipt.message_id
            self._say(Sent(generation=generation, id=line.id, message_id=message_id, sent_at=sent_at))


async def live(port: LinePort, rows: SpoolRows, plan: ChildPlan, make_library: MakeLibrary) -> None:
    """One life, and a last word that reaches the parent."""
    try:
        await Child(port, rows, plan, make_library).run()
    finally:
        await port.close()


def _library_version() -> str:
    try:
        return metadata.version("neonize")
    except metadata.PackageNotFoundError:
        return "not installed"
