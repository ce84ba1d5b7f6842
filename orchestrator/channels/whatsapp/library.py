"""The only module that knows neonize. Runs in the child, which the library's Go part may abort any time."""

import asyncio
import ctypes
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Protocol

from orchestrator.channels.whatsapp.fates import fate_of, fate_of_upload, is_never_fetched
from orchestrator.channels.whatsapp.file_messages import fill_file_message, kind_of
from orchestrator.channels.whatsapp.group_news import group_line
from orchestrator.channels.whatsapp.install_hint import LIBMAGIC, install_command
from orchestrator.channels.whatsapp.jids import jid_of
from orchestrator.channels.whatsapp.lines import Fate, GroupLine
from orchestrator.channels.whatsapp.media import MessageFile, fill_fetch_message
from orchestrator.channels.whatsapp.translate import to_message
from orchestrator.channels.whatsapp.verdicts import Verdict, verdict_of
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import OutboundFile, OutboundMessage, Receipt

_STOP_WITHIN_S: Final = 3.0
_ME: Final = "Device"
_ROWS: Final = ("Message", "UndecryptableMessage", "GroupInfoEvent", "JoinedGroup")
_VERDICTS: Final = (
    "PairStatus",
    "Connected",
    "LoggedOut",
    "StreamReplaced",
    "TemporaryBan",
    "ConnectFailure",
    "ClientOutdated",
    "Disconnected",
)


class LibraryMissing(Exception):
    """neonize, or a system library of its, is not installed. The text says what mends it."""


class SendFailed(Exception):
    """A text was not acknowledged."""

    def __init__(self, fate: Fate, why: str) -> None:
        super().__init__(why)
        self.fate = fate


class FetchFailed(Exception):
    """A file is not here. is_final: it will not be later either."""

    def __init__(self, why: str, *, is_final: bool) -> None:
        super().__init__(why)
        self.is_final = is_final


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """Whom the library tells. row: on a thread of its own, before it goes on; the others on the loop."""

    row: Callable[[str, bytes], None]
    state: Callable[[Verdict], None]
    qr: Callable[[str], None]


class MakeClient(Protocol):
    """Makes neonize's client on a session file."""

    def __call__(self, session: str) -> Any: ...


def neonize_client(session: str) -> Any:
    """The real one. Raises LibraryMissing."""
    try:
        from neonize.aioze.client import NewAClient
    except ImportError as error:
        if "magic" in str(error):
            why = f"the system library libmagic is missing. Install it: {LIBMAGIC}"
        else:
            why = f"neonize cannot be loaded: {error}. Install it: {install_command()}"
        raise LibraryMissing(why) from error
    return NewAClient(session)


class Library:
    """neonize's client with words of ours. Belongs to one event loop, for the life of the process."""

    def __init__(self, session: Path, ears: Ears, *, make_client: MakeClient = neonize_client) -> None:
        """Raises LibraryMissing."""
        self._client = make_client(str(session))
        self._ears = ears
        self._loop = asyncio.get_running_loop()
        self._one_row = threading.Lock()
        self._events = _events_by_code()
        for code, kind in self._events.items():
            if kind.__name__ in (*_ROWS, *_VERDICTS):
                # A client is sent only events that somebody is registered for.
                self._client.event.list_func[code] = _nothing
        self._client.event.execute = self._execute
        self._client.event.qr(self._on_qr)

    @property
    def version(self) -> str:
        """Of neonize."""
        return metadata.version("neonize")

    @property
    def me(self) -> tuple[Jid, ...]:
        """Our own ids, once connected."""
        device = self._client.me
        if device is None:
            return ()
        found = (jid_of(device.JID), jid_of(device.LID))
        return tuple(each for each in found if each is not None)

    def event(self, kind: str, raw: bytes) -> Any:
        """The protobuf object of a row."""
        return next(each for each in self._events.values() if each.__name__ == kind).FromString(raw)

    async def connect(self) -> str:
        """Connect, and return why the link ended once it has. The library reconnects a link that was open."""
        from neonize.exc import NeonizeError

        try:
            await (await self._client.connect())
        except NeonizeError as error:
            return str(error)
        return "the library ended the link"

    async def content(self, message: OutboundMessage) -> Any:
        """The `Message` that says it; the bytes of a file are at the network when this returns.

        Nothing is sent yet. Raises SendFailed.
        """
        from neonize.exc import NeonizeError

        if message.file is None:
            return _text_message(message)
        try:
            return await self._uploaded(message.file, message)
        except (NeonizeError, OSError) as error:
            raise SendFailed(fate_of_upload(str(error)), str(error)) from error

    async def send(self, chat: Jid, content: Any) -> Receipt:
        """Hand a `Message` to the network. Raises SendFailed."""
        from neonize.exc import NeonizeError

        try:
            answer = await self._client.send_message(_jid(chat), content)
        except (NeonizeError, OSError) as error:
            raise SendFailed(fate_of(str(error)), str(error)) from error
        sent_at = datetime.fromtimestamp(answer.Timestamp, UTC) if answer.Timestamp else None
        return Receipt(message_id=MessageId(answer.ID), sent_at=sent_at)

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator; a failure is of no interest."""
        from neonize.exc import NeonizeError
        from neonize.utils.enum import ChatPresence, ChatPresenceMedia

        shown = ChatPresence.CHAT_PRESENCE_COMPOSING if is_typing else ChatPresence.CHAT_PRESENCE_PAUSED
        try:
            media = ChatPresenceMedia.CHAT_PRESENCE_MEDIA_TEXT
            await self._client.send_chat_presence(_jid(chat), shown, media)
        except NeonizeError:
            return

    async def fetch(self, file: MessageFile) -> bytes:
        """The bytes of a file in a message. Raises FetchFailed."""
        from neonize.exc import NeonizeError
        from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

        if not file.is_fetchable:
            raise FetchFailed("its message does not say where it lies", is_final=True)
        message = Message()
        fill_fetch_message(message, file)
        try:
            return bytes(await self._client.download_any(message))
        except (NeonizeError, OSError) as error:
            raise FetchFailed(str(error), is_final=is_never_fetched(str(error))) from error

    async def mark_read(self, chat: Jid, sender: Jid, message_id: MessageId) -> None:
        """Show the sender that it was read; a failure is of no interest."""
        from neonize.exc import NeonizeError
        from neonize.utils.enum import ReceiptType

        try:
            await self._client.mark_read(
                message_id, chat=_jid(chat), sender=_jid(sender), receipt=ReceiptType.READ
            )
        except NeonizeError:
            return

    async def groups(self) -> Sequence[GroupLine]:
        """All group chats of the account. Raises ValueError, saying why not."""
        from neonize.exc import NeonizeError

        try:
            found = await self._client.get_joined_groups()
        except NeonizeError as error:
            raise ValueError(str(error)) from error
        return [line for each in found if (line := group_line(each)) is not None]

    async def pairing_code(self, phone: str) -> str:
        """A code for the phone with this number. Raises ValueError, saying why not."""
        from neonize.exc import NeonizeError

        try:
            return str(await self._client.PairPhone(phone, True))
        except NeonizeError as error:
            raise ValueError(str(error)) from error

    async def unlink(self) -> str | None:
        """Log out; why the network could not be told, if so."""
        from neonize.exc import NeonizeError

        try:
            await self._client.logout()
        except NeonizeError as error:
            return str(error)
        return None

    async def stop(self) -> None:
        """Disconnect, if that is quickly done; a dial that hangs can't be ended but with the process."""
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                await self._client.stop()
        except TimeoutError:
            return

    async def _uploaded(self, file: OutboundFile, outbound: OutboundMessage) -> Any:
        from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message
        from neonize.utils.enum import MediaType

        raw = await asyncio.to_thread(file.path.read_bytes)
        kind = kind_of(file.media_type, raw, has_caption=bool(outbound.text))
        uploaded = await self._client.upload(raw, MediaType[f"Media{kind.upload}"])
        message = Message()
        fill_file_message(message, kind, file, raw, outbound, uploaded)
        return message

    async def _on_qr(self, _: Any, code: bytes) -> None:
        self._ears.qr(code.decode())

    def _execute(self, uuid: int, binary: int, size: int, code: int) -> None:
        """Takes an event on a thread of the library, in place of neonize's own dispatcher.

        That one hands the event to a coroutine whose failures nobody sees; the network has been told by
        then that we have the message.
        """
        try:
            kind = self._events[code].__name__
            raw = ctypes.string_at(binary, size)
            if kind in _ROWS:
                with self._one_row:
                    self._ears.row(kind, raw)
                return
            event = self._events[code].FromString(raw)
            if kind == _ME:
                self._client.me = event
            elif (verdict := verdict_of(kind, event)) is not None:
                self._loop.call_soon_threadsafe(self._ears.state, verdict)
        except Exception as error:  # an error that left here would vanish in the library's Go part
            sys.stderr.write(f"whatsapp event {code} failed: {error!r}\n")


async def _nothing(client: Any, event: Any) -> None:
    """Never called: it only stands for a wish to be sent the event."""


def _events_by_code() -> dict[int, Any]:
    from neonize.events import INT_TO_EVENT

    return dict(INT_TO_EVENT)


def _jid(text: Jid) -> Any:
    from neonize.proto.Neonize_pb2 import JID

    user, _, server = text.partition("@")
    return JID(User=user, Server=server, RawAgent=0, Device=0, Integrator=0, IsEmpty=False)


def _text_message(outbound: OutboundMessage) -> Any:
    from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

    message = Message()
    to_message(message, outbound)
    return message
