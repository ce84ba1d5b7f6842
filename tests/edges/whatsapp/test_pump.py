"""The WhatsApp child and the rows of its spool."""

import asyncio
import errno
import os
import socket
from pathlib import Path
from typing import Any

from orchestrator.channels.whatsapp.child import ChildPlan, Purpose, live
from orchestrator.channels.whatsapp.lines import (
    MAX_UNCONFIRMED,
    Beat,
    ChildLine,
    Confirm,
    Heard,
    Stop,
    child_line,
)
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.reading import row_of
from orchestrator.channels.whatsapp.spool import SpoolRows
from tests.support.whatsapp_events import ME, event


class SickRows(SpoolRows):
    """A spool on a disk with a bad sector. stuck: the rows that lie there."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.stuck: set[str] = set()

    def read(self, name: str) -> bytes:
        """As a disk answers."""
        if name in self.stuck:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(name)


class QuietLibrary:
    """A link on which nothing comes. Its events say what their bytes are."""

    def event(self, kind: str, raw: bytes) -> Any:
        """A message with these words."""
        return event({"conversation": raw.decode()}, message_id=raw.decode())

    async def connect(self) -> str:
        """For ever."""
        await asyncio.Event().wait()
        return ""

    async def stop(self) -> None:
        """At once."""


async def heard(port: LinePort) -> str:
    """The text of the next message."""
    async with asyncio.timeout(60):
        while not isinstance(line := await said(port), Heard):
            continue
    assert line.message is not None
    return line.message.text


async def said(port: LinePort) -> ChildLine:
    """The next line but for beats."""
    while True:
        raw = await port.read()
        assert raw is not None
        if not isinstance(line := child_line(raw), Beat):
            return line


async def test_a_row_that_the_disk_does_not_give_out_holds_up_no_other_and_is_said_once_it_does(
    tmp_path: Path,
) -> None:
    rows = SickRows(tmp_path)
    rows.stuck.add(rows.add(row_of("Message", b"first")))
    rows.add(row_of("Message", b"second"))
    ours, theirs = socket.socketpair()
    port = await LinePort.on(ours)
    plan = ChildPlan(session=tmp_path / "whatsapp.db", purpose=Purpose.LINK, generation=1, me=ME)
    library: Any = QuietLibrary()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(live(await LinePort.on(theirs), rows, plan, lambda *_: library))
        before = await heard(port)
        rows.stuck.clear()
        after = await heard(port)
        port.put(Stop())

    await port.close()
    assert [before, after] == ["second", "first"]


async def test_no_more_is_said_than_the_parent_confirms(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path)
    names = [rows.add(row_of("Message", f"text {number}".encode())) for number in range(MAX_UNCONFIRMED + 2)]
    ours, theirs = socket.socketpair()
    port = await LinePort.on(ours)
    session = tmp_path / "whatsapp.db"
    plan = ChildPlan(session=session, purpose=Purpose.LINK, generation=1, me=ME, beat_s=0.01)
    library: Any = QuietLibrary()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(live(await LinePort.on(theirs), rows, plan, lambda *_: library))
        for _ in range(MAX_UNCONFIRMED):
            await heard(port)
        between = [child_line(await port.read() or b"") for _ in range(10)]
        port.put(Confirm(spool=names[0]))
        after = await heard(port)
        port.put(Stop())

    await port.close()
    assert {type(line) for line in between} == {Beat}
    assert after == f"text {MAX_UNCONFIRMED}"
