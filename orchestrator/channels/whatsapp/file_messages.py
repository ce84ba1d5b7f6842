"""Files that go out: as a picture, a film, a sound or a document, whichever phones show best."""

from dataclasses import dataclass
from typing import Any, Final

from orchestrator.contracts.records.messages import OutboundFile


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
_SOUNDS: Final = frozenset({"audio/ogg", "audio/mpeg", "audio/mp4", "audio/aac", "audio/amr"})


def kind_of(media_type: str, *, has_caption: bool) -> FileKind:
    """How a file of this type is shown; what phones play by themselves, else a document.

    A sound has no room for a caption: with one it is a document.
    """
    plain = media_type.partition(";")[0].strip().lower()
    if plain in _PICTURES:
        return PICTURE
    if plain in _FILMS:
        return FILM
    return SOUND if plain in _SOUNDS and not has_caption else DOCUMENT


def fill_file_message(message: Any, kind: FileKind, file: OutboundFile, caption: str, uploaded: Any) -> None:
    """Fill an empty `Message`. uploaded: the `UploadResponse` of its bytes."""
    part = getattr(message, kind.field)
    part.URL, part.directPath = uploaded.url, uploaded.DirectPath
    part.mediaKey, part.fileLength = uploaded.MediaKey, uploaded.FileLength
    part.fileSHA256, part.fileEncSHA256 = uploaded.FileSHA256, uploaded.FileEncSHA256
    part.mimetype = file.media_type
    if kind is DOCUMENT:
        part.fileName = file.name
    if caption:
        part.caption = caption
