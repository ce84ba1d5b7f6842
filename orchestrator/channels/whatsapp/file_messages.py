"""Files that go out: as a picture, a film, a sound or a document, whichever phones show best."""

from dataclasses import dataclass
from typing import Any, Final

from orchestrator.channels.whatsapp.opus import is_opus, seconds_of
from orchestrator.channels.whatsapp.translate import fill_context
from orchestrator.contracts.records.messages import OutboundFile, OutboundMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """How a file is shown. field: of `Message`. upload: the kind that its bytes are encrypted for.

    The two belong together: a phone that is shown a document finds no key for a picture.
    """

    field: str
    upload: str


PICTURE: Final = FileKind(field="imageMessage", upload="Image")
FILM: Final = FileKind(field="videoMessage", upload="Video")
SOUND: Final = FileKind(field="audioMessage", upload="Audio")
DOCUMENT: Final = FileKind(field="documentMessage", upload="Document")

_PICTURES: Final = frozenset({"image/jpeg", "image/png"})
_FILMS: Final = frozenset({"video/mp4"})
_OGG: Final = "audio/ogg"
_SOUNDS: Final = frozenset({_OGG, "audio/mpeg", "audio/mp4", "audio/aac", "audio/amr"})
_VOICE_TYPE: Final = "audio/ogg; codecs=opus"
_LARGEST_SHOWN: Final = 16 * 1000**2
"""WhatsApp takes no larger picture, film or sound, but a larger document."""


def kind_of(media_type: str, content: bytes, *, has_caption: bool) -> FileKind:
    """How a file of this type is shown; what phones play by themselves, else a document.

    A sound has no room for a caption: with one it is a document. So is Ogg that is not Opus, which half of
    the phones do not play.
    """
    plain = media_type.partition(";")[0].strip().lower()
    if len(content) > _LARGEST_SHOWN:
        return DOCUMENT
    if plain in _PICTURES:
        return PICTURE
    if plain in _FILMS:
        return FILM
    is_playable = plain in _SOUNDS and (plain != _OGG or is_opus(content))
    return SOUND if is_playable and not has_caption else DOCUMENT


def fill_file_message(
    message: Any, kind: FileKind, file: OutboundFile, content: bytes, outbound: OutboundMessage, uploaded: Any
) -> None:
    """Fill an empty `Message`. content: the file's bytes. uploaded: the `UploadResponse` of them."""
    part = getattr(message, kind.field)
    part.URL, part.directPath = uploaded.url, uploaded.DirectPath
    part.mediaKey, part.fileLength = uploaded.MediaKey, uploaded.FileLength
    part.fileSHA256, part.fileEncSHA256 = uploaded.FileSHA256, uploaded.FileEncSHA256
    part.mimetype = file.media_type
    if kind is DOCUMENT:
        part.fileName = file.name
    if kind is SOUND and is_opus(content):
        part.PTT, part.mimetype, part.seconds = True, _VOICE_TYPE, seconds_of(content)
    if outbound.text:
        part.caption = outbound.text
    fill_context(part, outbound)
