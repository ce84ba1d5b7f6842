"""The WhatsApp child: holds the library, keeps what it hands over, and speaks lines with the orchestrator.

It ends with its parent, with its link, and at a word; it starts no second link. Everything that matters is
on the disk or with the parent, so that it may die at any instruction.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any, Final, assert_never

from orchestrator.channels.whatsapp.downloads import Downloads
from orchestrator.channels.whatsapp.handing_over import hand_over
from orchestrator.channels.whatsapp.library import Ears, Library, LibraryMissing
from orchestrator.channels.whatsapp.lines import (
    VERSION,
    Beat,
    Confirm,
    Fetch,
    GroupIs,
    GroupsEnd,
    Hello,
    Keep,
    LineError,
    LinkState,
    ListGroups,
    MarkRead,
    PairingCode,
    PairPhone,
    ParentLine,
    QrCode,
    Send,
    SetAside,
    StateIs,
    Stop,
    Typing,
    Unlink,
    Unlinked,
    encode,
    parent_line,
)
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.pump import Pump
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
        self._pump = Pump(port, rows, generation=plan.generation)
        self._homeless: list[bytes] = []
        self._said_last = ""
        self._is_disconnected = False
        self._fetches: set[asyncio.Task[None]] = set()
        self._downloads = Downloads(rows, generation=plan.generation)

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
        me, generation = self._plan.me, self._plan.generation
        async with asyncio.TaskGroup() as tasks:
            running = [  # the link first: it is the one that is ended alone
                tasks.create_task(work, name=name)
                for name, work in (
                    ("link", self._link(library)),
                    ("beat", self._beat()),
                    ("pump", self._pump.run(RowReader(library.event, me=me, generation=generation))),
                    ("words", self._obey(library, tasks)),
                )
            ]
            await self._over.wait()
            if self._homeless:
                running[0].cancel()
                await self._disconnect(library)  # the network keeps what nobody takes
            await self._find_homes()
            for task in (*running, *self._fetches):
                task.cancel()
        await self._disconnect(library)

    async def _disconnect(self, library: Library) -> None:
        if not self._is_disconnected:
            self._is_disconnected = True
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
        self._loop.call_soon_threadsafe(self._pump.arrived.set)

    def _give_up_link(self, why: str) -> None:
        """Take nothing more until the disk does; what was taken is held."""
        if not self._over.is_set():
            held = StateIs(
                generation=self._plan.generation, state=LinkState.CONNECTING, why=why, is_holding=True
            )
            self._say(held)
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
        if self._homeless:  # whoever hears how the link ended ends us
            return
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
                self._pump.confirmed(line.spool)
            elif isinstance(line, Keep):
                self._pump.make_room(line.spool)
            elif isinstance(line, SetAside):
                self._pump.put_aside(line)
            else:
                task = tasks.create_task(self._do(library, line), name=line.kind)
                if isinstance(line, Fetch):  # what is fetched is asked for again in a later life
                    self._fetches.add(task)
                    task.add_done_callback(self._fetches.discard)
        self._over.set()

    async def _do(self, library: Library, line: ParentLine) -> None:
        generation = self._plan.generation
        match line:
            case Send():
                self._say(await hand_over(library, line, self._port, generation=generation))
            case Fetch():
                self._say(await self._downloads.fetch(library, line))
            case MarkRead():
                await library.mark_read(line.chat, line.sender, line.message_id)
            case Typing():
                await library.set_typing(line.chat, is_typing=line.is_typing)
            case ListGroups():
                await self._list_groups(library, line)
            case PairPhone():
                try:
                    code = await library.pairing_code(line.phone)
                except ValueError as error:
                    self._state(Verdict(state=LinkState.FAILED, why=str(error)))
                else:
                    self._say(PairingCode(generation=generation, code=code))
            case Unlink():
                self._say(Unlinked(generation=generation, why=await library.unlink()))
            case Confirm() | Keep() | SetAside() | Stop():
                raise AssertionError(line.kind)
            case _:
                assert_never(line)

    async def _list_groups(self, library: Library, line: ListGroups) -> None:
        generation, why = self._plan.generation, None
        try:
            for group in await library.groups():
                await self._port.write_raw(
                    _group_raw(GroupIs(generation=generation, id=line.id, group=group))
                )
        except ValueError as error:
            why = str(error)
        self._say(GroupsEnd(generation=generation, id=line.id, why=why))


async def live(port: LinePort, rows: SpoolRows, plan: ChildPlan, make_library: MakeLibrary) -> None:
    """One life, and a last word that reaches the parent."""
    try:
        await Child(port, rows, plan, make_library).run()
    finally:
        await port.close()


def _group_raw(line: GroupIs) -> bytes:
    """The line; of a crowd that no line holds only how it is called."""
    try:
        return encode(line)
    except LineError:
        bare = line.group.model_copy(update={"members": (), "same": ()})
        return encode(line.model_copy(update={"group": bare}))


def _library_version() -> str:
    try:
        return metadata.version("neonize")
    except metadata.PackageNotFoundError:
        return "not installed"
