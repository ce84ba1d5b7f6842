"""The real WhatsApp child with only neonize's client replaced by one that works on a directory.

Its directory is the network, as that of `tests.support.whatsapp_double`. `in/*.json` are messages as real
protobuf events, `in/*.raw` are bytes that are no event. Each is handed over from a thread of the client's
own, and is the network's no more from the moment that this begins: it lies in `handed/` until it ended.
`unreachable` holds why no connection can be made, while it exists.
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
from neonize.events import EVENT_TO_INT, ConnectedEv, MessageEv
from neonize.exc import NeonizeError
from neonize.proto import Neonize_pb2 as types
from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

from orchestrator.channels.whatsapp.__main__ import main

_LOOK_S: Final = 0.01
_ANSWER_S: Final = 0.03


class ScriptedClient:
    """What the child uses of `NewAClient`."""

    def __init__(self, session: str) -> None:
        self._directory = Path(session).parent
        self._ended = threading.Event()
        self.event = Event(self)
        self.me: Any = None
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
        self._tell(EVENT_TO_INT[ConnectedEv], _filled(types.Connected(status=True)))
        while not self._ended.is_set():
            for path in sorted((self._directory / "in").glob("*.*")):
                if path.name.startswith("."):
                    continue
                raw = path.read_bytes()
                handed = self._directory / "handed" / path.name
                path.rename(handed)
                event = raw if path.suffix == ".raw" else _event(json.loads(raw))
                self._tell(EVENT_TO_INT[MessageEv], event)
                handed.unlink()
            time.sleep(_LOOK_S)  # a thread of a network: it has no loop

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
        """At the network."""
        self._note("uploads.jsonl", {"kind": str(media_type), "size_bytes": len(raw)})
        return types.UploadResponse(url="https://example.org/file", FileLength=len(raw))

    async def send_chat_presence(self, *_: object) -> None:
        """Shown."""

    async def get_joined_groups(self) -> list[Any]:
        """As `groups.json` lists them."""
        path = self._directory / "groups.json"
        listed = json.loads(path.read_bytes()) if path.exists() else []
        if listed is None:
            raise NeonizeError("it can't be asked")
        return [_group(jid, name) for jid, name in listed]

    async def stop(self) -> None:
        """Disconnected."""
        self._ended.set()

    def _note(self, name: str, plain: dict[str, object]) -> None:
        with (self._directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain) + "\n")


def _group(jid: str, name: str) -> Any:
    found = types.GroupInfo()
    found.JID.User, _, found.JID.Server = jid.partition("@")
    found.GroupName.Name = name
    return found


def _event(plain: dict[str, Any]) -> bytes:
    """A real message event of a member of the choir, unless it says otherwise."""
    event = types.Message()
    info, source = event.Info, event.Info.MessageSource
    chat = plain.get("chat_jid", "120363000000000001@g.us")
    source.Chat.User, _, source.Chat.Server = chat.partition("@")
    source.Sender.User, _, source.Sender.Server = plain.get("sender_jid", "98765@lid").partition("@")
    source.IsGroup = chat.endswith("@g.us")
    info.ID, info.Pushname, info.Timestamp = plain["message_id"], "Ada", 1_790_000_000_000
    event.Message.CopyFrom(Message(conversation=plain["text"]))
    return _filled(event)


def _filled(event: Any) -> bytes:
    """The event's bytes; required fields that nobody set are empty."""
    _fill(event)
    return bytes(event.SerializeToString())


def _fill(message: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        is_message = field.message_type is not None
        if field.is_required and is_message:
            _fill(getattr(message, field.name))
            getattr(message, field.name).SetInParent()
        elif field.is_required and not message.HasField(field.name):
            setattr(message, field.name, field.default_value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], make_client=ScriptedClient))
