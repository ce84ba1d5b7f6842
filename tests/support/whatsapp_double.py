"""In place of the WhatsApp child: the same lines, no library, and faults as a script says.

Its directory is the far end of the network. What lies in it outlives the process, as WhatsApp would.

| file | what it holds |
|---|---|
| `in/*.json` | messages for us, or `{"group": …}`, in name order: taken over into the spool, then removed |
| `groups.json` | the groups of the account, each `[jid, name, member, …]`; `null` when it can't be asked |
| `sends.jsonl` | each text that the network took, with the generation that gave it |
| `lives.jsonl` | each start: generation and process id |
| `faults.json` | a list of `{"at": …, "do": …, "times": …}`; the first that fits and has times left is done |
| `media/*` | files of messages, see `tests.support.whatsapp_media` |
| `read.jsonl` | each message that was shown as read |
| `lost` | while it exists a link that stands is lost again and again |

`at` is `start`, `connect`, `send:<part of the text>`, `heard:<part of the text>` or `fetch:<message id>`.
`do` is one of `Fault`.
"""

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from orchestrator.channels.whatsapp.lines import (
    MAX_UNCONFIRMED,
    VERSION,
    Album,
    Beat,
    Confirm,
    Fate,
    Fetch,
    Fetched,
    GroupIs,
    GroupLine,
    GroupsEnd,
    Heard,
    Hello,
    Keep,
    Line,
    LinkState,
    ListGroups,
    MarkRead,
    NotSent,
    Quarantined,
    SamePerson,
    Send,
    Sent,
    SetAside,
    StateIs,
    Stop,
    Taken,
    Typing,
    parent_line,
)
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.spool import SpoolRows
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import GroupChange
from orchestrator.contracts.records.messages import InboundMessage
from tests.support.file_channel import write_json
from tests.support.whatsapp_media import FarMedia

ME: Final = (Jid("4915100000000@s.whatsapp.net"), Jid("9000@lid"))
_LOOK_S: Final = 0.02
_MESSAGE: Final = TypeAdapter(InboundMessage)
_CHANGE: Final = TypeAdapter(GroupChange)


class Fault(StrEnum):
    """What can go wrong with a child."""

    ABORT = "abort"
    HANG = "hang"
    GARBAGE = "garbage"
    ENDLESS_LINE = "endless line"
    FLOOD = "flood"
    LATE_LINE = "late line"
    OTHER_VERSION = "other version"
    UNLINK = "unlink"
    REFUSE_LINK = "refuse link"
    BARRED = "barred"
    LOSE_ANSWER = "lose answer"
    DIE_UNTAKEN = "die untaken"
    NOT_SENT = "not sent"
    REFUSE_SEND = "refuse send"
    BAD_EVENT = "bad event"
    NOT_NOW = "not now"


class Double:
    """One life."""

    def __init__(self, port: LinePort, directory: Path, rows: SpoolRows, generation: int) -> None:
        self._port = port
        self._directory = directory
        self._rows = rows
        self._generation = generation
        self._unconfirmed: set[str] = set()
        self._over = asyncio.Event()
        self._media = FarMedia(directory)
        self._fetches: list[asyncio.Task[None]] = []

    async def live(self) -> None:
        """From the first line to the last."""
        self._note("lives.jsonl", {"generation": self._generation, "pid": os.getpid()})
        version = VERSION + 1 if self._fault("start") is Fault.OTHER_VERSION else VERSION
        self._say(Hello(generation=self._generation, version=version, library="double"))
        self._state(LinkState.CONNECTING)
        if self._do_link_fault(self._fault("connect")):
            return
        self._state(LinkState.OPEN)
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            running = [
                tasks.create_task(work) for work in (self._beat(), self._hear(), self._obey(), self._drop())
            ]
            await self._over.wait()
            for task in (*running, *self._fetches):
                task.cancel()

    def _do_link_fault(self, fault: Fault | None) -> bool:
        """Whether the fault ends the life."""
        match fault:
            case Fault.UNLINK:
                self._state(LinkState.AUTH_REQUIRED, "unlinked by the phone")
            case Fault.REFUSE_LINK:
                self._state(LinkState.FAILED, "the network is unreachable")
            case Fault.BARRED:
                self._state(LinkState.FAILED, "barred for a while", retry_after_s=3600)
            case _:
                self._do(fault)
                return False
        return True

    def _do(self, fault: Fault | None) -> None:
        """What ends or confuses a child, whatever it was about."""
        match fault:
            case Fault.ABORT:
                sys.stderr.write("panic: runtime error: invalid memory address\n")
                sys.stderr.flush()
                os.kill(os.getpid(), signal.SIGABRT)
            case Fault.HANG:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
                while True:
                    signal.pause()
            case Fault.GARBAGE:
                self._raw(b'{"kind": "sent", "id": nonsense\n')
            case Fault.ENDLESS_LINE:
                self._raw(b"x" * (5 * 1024**2))
            case Fault.FLOOD:
                self._flood()
            case Fault.LATE_LINE:
                self._late()
            case _:
                return

    def _flood(self) -> None:
        """Far more messages than a parent has confirmed."""
        for number in range(4 * MAX_UNCONFIRMED):
            message = _message({"message_id": f"flood-{number}", "text": f"flood {number}"})
            self._say(Heard(generation=self._generation, spool=f"flood-{number}", message=message))

    def _late(self) -> None:
        """What an earlier child had still to say."""
        message = _message({"message_id": "late", "text": "late"})
        self._say(Heard(generation=self._generation - 1, spool="late", message=message))
        self._say(StateIs(generation=self._generation - 1, state=LinkState.FAILED, why="late"))

    async def _hear(self) -> None:
        """Take over what the network has, then say what is not confirmed."""
        last = ""
        while True:
            for path in sorted((self._directory / "in").glob("*.json")):
                self._rows.add(path.read_bytes())
                path.unlink()
            for name in [each for each in self._rows.names() if each > last]:
                if len(self._unconfirmed) >= MAX_UNCONFIRMED:
                    break
                last = name
                self._hear_one(name)
            await asyncio.sleep(_LOOK_S)

    def _hear_one(self, name: str) -> None:
        plain = json.loads(self._rows.read(name))
        if "group" in plain:
            self._unconfirmed.add(name)
            change = _CHANGE.validate_python(plain["group"])
            self._say(Heard(generation=self._generation, spool=name, group=change))
            return
        same = tuple(SamePerson(**each) for each in plain.pop("same", ()))
        album = Album(**plain.pop("album")) if "album" in plain else None
        message = _message(plain)
        fault = self._fault(f"heard:{message.text}")
        if fault is Fault.BAD_EVENT:
            self._rows.quarantine(name)
            self._say(Quarantined(generation=self._generation, spool=name, why="ValueError: unreadable"))
            return
        self._do(fault)
        self._unconfirmed.add(name)
        heard = Heard(generation=self._generation, spool=name, message=message, same=same, album=album)
        self._say(heard)

    async def _obey(self) -> None:
        while (raw := await self._port.read()) is not None:
            line = parent_line(raw)
            match line:
                case Stop():
                    break
                case Confirm():
                    self._rows.remove(line.spool)
                    self._unconfirmed.discard(line.spool)
                case Keep():
                    self._unconfirmed.discard(line.spool)
                case SetAside():
                    self._rows.quarantine(line.spool)
                    self._unconfirmed.discard(line.spool)
                    self._say(Quarantined(generation=self._generation, spool=line.spool, why=line.why))
                case Fetch():
                    self._fetches.append(self._tasks.create_task(self._fetch(line)))
                case MarkRead():
                    self._note("read.jsonl", {"chat": line.chat, "message_id": line.message_id})
                case Send():
                    self._send(line)
                case ListGroups():
                    self._list_groups(line)
                case Typing():
                    self._note("typing.jsonl", {"chat": line.chat, "is_typing": line.is_typing})
                case _:
                    raise AssertionError(line.kind)
        self._over.set()

    async def _fetch(self, line: Fetch) -> None:
        message = _message(json.loads(self._rows.read(line.spool)))
        self._note("fetches.jsonl", {"message_id": message.message_id})
        fault = self._fault(f"fetch:{message.message_id}")
        self._do(fault)
        if fault is Fault.NOT_NOW:
            self._say(Fetched(generation=self._generation, spool=line.spool, why="not now"))
            return
        content = await self._media.fetched(message.message_id)
        if content is None:
            self._say(Fetched(generation=self._generation, spool=line.spool, why="gone", is_final=True))
            return
        try:
            path = self._rows.keep_file(line.spool, content)
        except OSError:
            return  # its row was confirmed meanwhile
        self._say(Fetched(generation=self._generation, spool=line.spool, path=path))

    def _send(self, line: Send) -> None:
        fault = self._fault(f"send:{line.message.text}")
        if fault is Fault.DIE_UNTAKEN:
            os.kill(os.getpid(), signal.SIGKILL)
        self._say(Taken(generation=self._generation, id=line.id))
        fates = {Fault.NOT_SENT: Fate.UNAVAILABLE, Fault.REFUSE_SEND: Fate.REFUSED}
        if fault in fates:
            self._say(NotSent(generation=self._generation, id=line.id, fate=fates[fault], why="as told"))
            return
        message = line.message
        if message.file is not None:
            (self._directory / "files").mkdir(exist_ok=True)
            copy = self._directory / "files" / str(message.outbox_id)
            copy.write_bytes(message.file.path.read_bytes())
        sent = {"chat": message.chat_jid, "text": message.text, "outbox_id": message.outbox_id}
        quoted = {"reply_to": message.reply_to, "reply_to_text": message.reply_to_text}
        mentions = [each.jid for each in message.mentions]
        self._note("sends.jsonl", {**sent, **quoted, "mentions": mentions, "generation": self._generation})
        if fault is Fault.LOSE_ANSWER:
            return
        self._do(fault)
        message_id = MessageId(f"3EB0{self._generation:04}{line.id:08}")
        self._say(Sent(generation=self._generation, id=line.id, message_id=message_id))

    def _list_groups(self, line: ListGroups) -> None:
        path = self._directory / "groups.json"
        listed = json.loads(path.read_bytes()) if path.exists() else []
        for jid, name, *members in listed or []:
            group = GroupLine(jid=Jid(jid), name=name, members=tuple(members), same=())
            self._say(GroupIs(generation=self._generation, id=line.id, group=group))
        why = "it can't be asked" if listed is None else None
        self._say(GroupsEnd(generation=self._generation, id=line.id, why=why))

    async def _beat(self) -> None:
        while True:
            self._say(Beat(generation=self._generation))
            await asyncio.sleep(0.1)

    async def _drop(self) -> None:
        while True:
            if (self._directory / "lost").exists():
                self._state(LinkState.CONNECTING, "the connection was lost")
                self._state(LinkState.OPEN)
            await asyncio.sleep(_LOOK_S)

    def _fault(self, at: str) -> Fault | None:
        path = self._directory / "faults.json"
        faults: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
        for each in faults:
            place, _, part = each["at"].partition(":")
            here, _, text = at.partition(":")
            if place == here and part in text and each.get("times", 1) > 0:
                each["times"] = each.get("times", 1) - 1
                write_json(path, faults)
                return Fault(each["do"])
        return None

    def _state(self, state: LinkState, why: str = "", *, retry_after_s: float = 0.0) -> None:
        self._say(
            StateIs(generation=self._generation, state=state, why=why, me=ME, retry_after_s=retry_after_s)
        )

    def _say(self, line: Line) -> None:
        self._port.put(line)

    def _raw(self, raw: bytes) -> None:
        self._port._put_raw(raw)  # no honest child could say this

    def _note(self, name: str, plain: dict[str, object]) -> None:
        with (self._directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain) + "\n")


def _message(plain: dict[str, Any]) -> InboundMessage:
    ada = {"chat_jid": "120363000000000001@g.us", "sender_jid": "4917100000001@s.whatsapp.net"}
    usual = {"sender_name": "Ada", "chat_is_group": True, "sent_at": "2026-01-01T12:00:00Z"}
    return _MESSAGE.validate_python({**ada, **usual, **plain})


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--descriptor", type=int, required=True)
    parser.add_argument("--generation", type=int, required=True)
    options = parser.parse_args()
    lock = os.open(options.directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two at once is a fault of the parent, and seen
    port = await LinePort.on(socket.socket(fileno=options.descriptor))
    rows = SpoolRows(options.directory / "spool")
    await Double(port, options.directory, rows, options.generation).live()
    await port.close()


if __name__ == "__main__":
    asyncio.run(_main())
