"""The file in a message, before it is fetched: its name, kind and size, as the sender's program says."""

from collections.abc import Mapping
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


def picture_file(message: Any) -> ReceivedFile:
    """The picture of an `ImageMessage`."""
    return _file("photo", message, otherwise="image/jpeg")


def video_file(message: Any) -> ReceivedFile:
    """The film of a `VideoMessage`."""
    return _file("video", message, otherwise="video/mp4")


def audio_file(message: Any) -> ReceivedFile:
    """The sound of an `AudioMessage`."""
    return _file("voice" if message.PTT else "audio", message, otherwise="audio/ogg")


def sticker_file(message: Any) -> ReceivedFile:
    """The picture of a `StickerMessage`."""
    return _file("sticker", message, otherwise="image/webp")


def document_file(message: Any) -> ReceivedFile:
    """The document of a `DocumentMessage`, by the name that its sender gave it."""
    media_type = _plain_type(message.mimetype) or _UNKNOWN_TYPE
    name = message.fileName or message.title or f"document.{_ENDINGS.get(media_type, 'bin')}"
    return ReceivedFile(name=name, media_type=media_type, size_bytes=message.fileLength, source=None)


def _file(stem: str, message: Any, *, otherwise: str) -> ReceivedFile:
    media_type = _plain_type(message.mimetype) or otherwise
    ending = _ENDINGS.get(media_type) or _ENDINGS[otherwise]
    return ReceivedFile(
        name=f"{stem}.{ending}", media_type=media_type, size_bytes=message.fileLength, source=None
    )


def _plain_type(mimetype: str) -> str:
    """`audio/ogg` of `audio/ogg; codecs=opus`."""
    return mimetype.partition(";")[0].strip().lower()
