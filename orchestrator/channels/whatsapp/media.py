"""The file in a message, before it is fetched: its name, kind and size, as the sender's program says."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from orchestrator.contracts.records.messages import ReceivedFile

_ENDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "image/jpeg": "jpg",
        "image/png": "png",
        "image/webp": "webp",
        "image/gif": "gif",
        "image/heic": "heic",
        "video/mp4": "mp4",
        "video/3gpp": "3gp",
        "video/quicktime": "mov",
        "audio/ogg": "ogg",
        "audio/mpeg": "mp3",
        "audio/mp4": "m4a",
        "audio/aac": "aac",
        "audio/amr": "amr",
        "audio/wav": "wav",
        "application/pdf": "pdf",
        "text/plain": "txt",
    }
)
_UNKNOWN_TYPE: Final = "application/octet-stream"
_MOST_NAME_CHARS: Final = 1_000
_WANTED: Final = (
    "directPath", "mediaKey", "fileSHA256", "fileEncSHA256", "fileLength", "mediaKeyTimestamp", "mimetype",
)  # fmt: skip
"""What fetching needs. The rest is previews, quotes, and `URL`, by which a sender could send us anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFile:
    """A file that lies at the network. field: of `Message`, as which it is fetched. part: holds its key."""

    described: ReceivedFile
    field: str
    part: Any

    @property
    def caption(self) -> str:
        """What its sender wrote beneath it."""
        return str(getattr(self.part, "caption", ""))

    @property
    def is_fetchable(self) -> bool:
        """Whether its sender's program said where it lies."""
        return bool(self.part.directPath)


def fill_fetch_message(message: Any, file: MessageFile) -> None:
    """Fill an empty `Message` with what the library needs to fetch the file, and nothing else."""
    part = getattr(message, file.field)
    part.SetInParent()
    for name in _WANTED:
        if file.part.HasField(name):
            setattr(part, name, getattr(file.part, name))


def picture_file(message: Any) -> MessageFile:
    """The picture of an `ImageMessage`."""
    described = _described("photo", message, otherwise="image/jpeg")
    return MessageFile(described=described, field="imageMessage", part=message)


def video_file(message: Any) -> MessageFile:
    """The film of a `VideoMessage`."""
    described = _described("video", message, otherwise="video/mp4")
    return MessageFile(described=described, field="videoMessage", part=message)


def audio_file(message: Any) -> MessageFile:
    """The sound of an `AudioMessage`."""
    stem = "voice" if message.PTT else "audio"
    described = _described(stem, message, otherwise="audio/ogg", is_voice=message.PTT)
    return MessageFile(described=described, field="audioMessage", part=message)


def sticker_file(message: Any) -> MessageFile:
    """The picture of a `StickerMessage`."""
    described = _described("sticker", message, otherwise="image/webp")
    return MessageFile(described=described, field="stickerMessage", part=message)


def document_file(message: Any) -> MessageFile:
    """The document of a `DocumentMessage`, by the name that its sender gave it."""
    media_type = _plain_type(message.mimetype) or _UNKNOWN_TYPE
    given = message.fileName or message.title
    name = given[:_MOST_NAME_CHARS] or f"document.{_ENDINGS.get(media_type, 'bin')}"
    described = ReceivedFile(name=name, media_type=media_type, size_bytes=message.fileLength, source=None)
    return MessageFile(described=described, field="documentMessage", part=message)


def _described(stem: str, message: Any, *, otherwise: str, is_voice: bool = False) -> ReceivedFile:
    media_type = _plain_type(message.mimetype) or otherwise
    ending = _ENDINGS.get(media_type) or _ENDINGS[otherwise]
    return ReceivedFile(
        name=f"{stem}.{ending}",
        media_type=media_type,
        size_bytes=message.fileLength,
        source=None,
        is_voice=is_voice,
    )


def _plain_type(mimetype: str) -> str:
    """`audio/ogg` of `audio/ogg; codecs=opus`."""
    return mimetype[:_MOST_NAME_CHARS].partition(";")[0].strip().lower()
