"""The real WhatsApp child with only neonize's client replaced by one that works on a directory.

Its directory is the network, as that of `tests.support.whatsapp_double`. `in/*.json` are messages, or news of
groups (`joined`, `info`), as real protobuf events; `in/*.raw` are bytes that are no event. Each is handed
over from a thread of the client's own, and is the network's no more from the moment that this begins: it lies
in `handed/` until it ended. `unreachable` holds why no connection can be made, while it exists. `phone`
holds the number of an account that scans the code, once it exists; `typing_phone` of one that has it typed.
While `outdated` exists the network takes this version of the library no more.
"""

import asyncio
import ctypes
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from neonize.aioze.events import Event
from neonize.events import EVENT_TO_INT, ClientOutdatedEv, ConnectedEv, GroupInfoEv, JoinedGroupEv, MessageEv
from neonize.exc import NeonizeError
from neonize.proto import Neonize_pb2 as types
from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

from orchestrator.channels.whatsapp.__main__ import main
from orchestrator.channels.whatsapp.session import linked_account
from tests.support.protobuf_filling import filled
from tests.support.whatsapp_far_end import link_by_hand

_LOOK_S: Final = 0.01
_ANSWER_S: Final = 0.03


class ScriptedClient:
    """What the child uses of `NewAClient`."""

    def __init__(self, session: str) -> None:
        self._directory = Path(session).parent
        self._ended = threading.Event()
        self.event = Event(self)
        self.me: Any = None
        self._session = Path(session)
        self._is_code_shown = threading.Event()
        self._loop = asyncio.get_running_loop()
        for name in ("in", "handed"):
            (self._directory / name).mkdir(exist_ok=True)
        self._note("lives.jsonl", {"pid": os.getpid()})

    async def connect(self) -> "asyncio.Task[None]":
        """As neonize: a task that lives as long as the link."""
        return asyncio.ensure_future(asyncio.to_thread(self._live))  # noqa: TID251 - the caller awaits it

    def _live(self) -> None:
        why = self._directory / "unreachable"
        if why.exists():
            raise NeonizeError(why.read_text())
        if (self._directory / "outdated").exists():
            self._tell(EVENT_TO_INT[ClientOutdatedEv], b"")
            self._ended.wait()
            return
        if linked_account(self._session) is None:
            asyncio.run_coroutine_threadsafe(self.event._qr(self, b"a code"), self._loop).result()
            self._wait_for_phone()
        self._tell(EVENT_TO_INT[ConnectedEv], filled(types.Connected(status=True)))
        while not self._ended.is_set():
            for path in sorted((self._directory / "in").glob("*.*")):
                if path.name.startswith("."):
                    continue
                raw = path.read_bytes()
                handed = self._directory / "handed" / path.name
                path.rename(handed)
                self._tell(*_told(raw, is_event=path.suffix == ".raw"))
                handed.unlink()
            time.sleep(_LOOK_S)  # a thread of a network: it has no loop

    def _wait_for_phone(self) -> None:
        """Until a person has taken it and scanned the code, or typed the one for typing."""
        scanned, typed = self._directory / "phone", self._directory / "typing_phone"
        while not self._ended.is_set():
            if scanned.exists():
                return link_by_hand(self._session, scanned.read_text())
            if typed.exists() and self._is_code_shown.is_set():
                return link_by_hand(self._session, typed.read_text())
            time.sleep(_LOOK_S)

    async def PairPhone(self, phone: str, _: bool) -> str:
        """The code for the phone."""
        self._note("pairings.jsonl", {"phone": phone})
        self._is_code_shown.set()
        return "ABCD-EFGH"

    async def logout(self) -> None:
        """At the network."""
        self._note("pairings.jsonl", {"logout": True})

    def _tell(self, code: int, raw: bytes) -> None:
        """As the library's Go part does."""
        buffer = ctypes.create_string_buffer(raw, len(raw))
        self.event.execute(0, ctypes.addressof(buffer), len(raw), code)

    async def send_message(self, to: Any, message: Any) -> Any:
        """Taken once this is written."""
        shown = [field.name for field, _ in message.ListFields()]
        text = message.conversation or message.extendedTextMessage.text or message.documentMessage.caption
        self._note("sends.jsonl", {"chat": f"{to.User}@{to.Server}", "text": text, "shown": shown})
        await asyncio.sleep(_ANSWER_S)  # the way back
        return types.SendResponse(ID=f"3EB0{os.urandom(8).hex().upper()}", Timestamp=1_790_000_000)

    async def upload(self, raw: bytes, media_type: object) -> Any:
        """At the network; never while `slow` exists, and not while `no_upload` is; notes `uploading`."""
        (self._directory / "uploading").touch()
        if (self._directory / "slow").exists():
            await asyncio.Event().wait()
        if (self._directory / "no_upload").exists():
            raise NeonizeError((self._directory / "no_upload").read_text())
        self._note("uploads.jsonl", {"kind": str(media_type), "size_bytes": len(raw)})
        return types.UploadResponse(url="https://example.org/file", FileLength=len(raw))

    async def download_any(self, message: Any) -> bytes:
        """What lies in `media/` under the file's path; what it was asked for is noted."""
        [(field, part)] = message.ListFields()
        asked = sorted(each.name for each, _ in part.ListFields())
        self._note("downloads.jsonl", {"as": field.name, "fields": asked})
        path = self._directory / "media" / part.directPath.strip("/")
        if not path.exists():
            raise NeonizeError("download failed with status code 404")
        return bytes(path.read_bytes())

    async def mark_read(self, *ids: str, chat: Any, sender: Any, receipt: Any) -> None:
        """Shown."""
        said = {"chat": f"{chat.User}@{chat.Server}", "sender": f"{sender.User}@{sender.Server}"}
        self._note("read.jsonl", {**said, "ids": list(ids), "receipt": receipt.name})

    async def send_chat_presence(self, *_: object) -> None:
        """Shown."""

    async def get_joined_groups(self) -> list[Any]:
        """As `groups.json` lists them."""
        path = self._directory / "groups.json"
        listed = json.loads(path.read_bytes()) if path.exists() else []
        if listed is None:
            raise NeonizeError("it can't be asked")
        return [_group(*each) for each in listed]

    async def stop(self) -> None:
        """Disconnected."""
        self._note("stops.jsonl", {"pid": os.getpid()})
        self._ended.set()

    def _note(self, name: str, plain: dict[str, object]) -> None:
        with (self._directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain) + "\n")


def _group(jid: str, name: str, *members: str) -> Any:
    found = types.GroupInfo()
    _set_jid(found.JID, jid)
    found.GroupName.Name = name
    for each in members:
        _set_jid(found.Participants.add().JID, each)
    return found


def _set_jid(target: Any, jid: str) -> None:
    target.User, _, target.Server = jid.partition("@")


def _news(plain: dict[str, Any]) -> tuple[int, bytes]:
    """A real event of a group: `joined` names one that we are in now, `info` who came and went."""
    if "joined" in plain:
        added = types.JoinedGroup()
        added.GroupInfo.CopyFrom(_group(*plain["joined"]))
        return EVENT_TO_INT[JoinedGroupEv], filled(added)
    event = types.GroupInfoEvent(Timestamp=1_790_000_000)
    _set_jid(event.JID, plain["info"]["chat"])
    for name, people in (("Join", event.Join), ("Leave", event.Leave)):
        for each in plain["info"].get(name, []):
            _set_jid(people.add(), each)
    return EVENT_TO_INT[GroupInfoEv], filled(event)


def _told(raw: bytes, *, is_event: bool) -> tuple[int, bytes]:
    if is_event:
        return EVENT_TO_INT[MessageEv], raw
    plain = json.loads(raw)
    if "joined" in plain or "info" in plain:
        return _news(plain)
    return EVENT_TO_INT[MessageEv], _event(plain)


def _event(plain: dict[str, Any]) -> bytes:
    """A real message event of a member of the choir, unless it says otherwise."""
    event = types.Message()
    info, source = event.Info, event.Info.MessageSource
    chat = plain.get("chat_jid", "120363000000000001@g.us")
    source.Chat.User, _, source.Chat.Server = chat.partition("@")
    source.Sender.User, _, source.Sender.Server = plain.get("sender_jid", "98765@lid").partition("@")
    source.IsGroup = chat.endswith("@g.us")
    info.ID, info.Pushname, info.Timestamp = plain["message_id"], "Ada", 1_790_000_000_000
    said = Message(conversation=plain["text"]) if "said" not in plain else Message(**plain["said"])
    event.Message.CopyFrom(said)
    return filled(event)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], make_client=ScriptedClient))
