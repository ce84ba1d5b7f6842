"""Files that go out, as real protobuf objects."""

from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.file_messages import fill_file_message, kind_of
from orchestrator.contracts.records.messages import OutboundFile
from tests.support.whatsapp_events import Message, neonize_types


@pytest.mark.parametrize(
    ("media_type", "has_caption", "field", "upload"),
    [
        ("image/jpeg", True, "imageMessage", "Image"),
        ("image/png", False, "imageMessage", "Image"),
        ("image/tiff", False, "documentMessage", "Document"),
        ("video/mp4", True, "videoMessage", "Video"),
        ("audio/ogg; codecs=opus", False, "audioMessage", "Audio"),
        ("audio/mpeg", True, "documentMessage", "Document"),
        ("application/pdf", True, "documentMessage", "Document"),
        ("", False, "documentMessage", "Document"),
    ],
)
def test_each_type_is_shown_as_phones_show_it_best(
    media_type: str, has_caption: bool, field: str, upload: str
) -> None:
    kind = kind_of(media_type, has_caption=has_caption)

    assert (kind.field, kind.upload) == (field, upload)


@pytest.mark.parametrize("caption", ["", "Here it is"])
@pytest.mark.parametrize("media_type", ["image/png", "video/mp4", "audio/ogg", "application/pdf"])
def test_the_message_holds_what_the_network_gave_for_the_bytes(media_type: str, caption: str) -> None:
    file = OutboundFile(name="it.bin", media_type=media_type, size_bytes=3, path=Path("/x"))
    uploaded = neonize_types.UploadResponse(
        url="https://example.org/f",
        DirectPath="/f",
        MediaKey=b"key",
        FileEncSHA256=b"enc",
        FileSHA256=b"sha",
        FileLength=3,
    )
    kind, message = kind_of(media_type, has_caption=bool(caption)), Message()

    fill_file_message(message, kind, file, caption, uploaded)

    part = getattr(message, kind.field)
    assert [field.name for field, _ in message.ListFields()] == [kind.field]
    assert (part.URL, part.directPath, part.mediaKey) == ("https://example.org/f", "/f", b"key")
    assert (part.fileSHA256, part.fileEncSHA256, part.fileLength) == (b"sha", b"enc", 3)
    assert part.mimetype == media_type
    assert getattr(part, "caption", "") == caption
