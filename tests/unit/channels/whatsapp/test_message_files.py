"""The file in a message, as it is described before it is fetched."""

from typing import Any

import pytest

from orchestrator.contracts.records.messages import ReceivedFile
from tests.support.whatsapp_events import heard

FILES: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "a photo": ({"imageMessage": {"mimetype": "image/png", "fileLength": 9}}, "photo.png", "image/png", 9),
    "a photo of no type": ({"imageMessage": {}}, "photo.jpg", "image/jpeg", 0),
    "a photo of a strange type": ({"imageMessage": {"mimetype": "image/x"}}, "photo.jpg", "image/x", 0),
    "a film": ({"videoMessage": {"mimetype": "video/mp4"}}, "video.mp4", "video/mp4", 0),
    "a round film": ({"ptvMessage": {}}, "video.mp4", "video/mp4", 0),
    "a voice message": (
        {"audioMessage": {"PTT": True, "mimetype": "audio/ogg; codecs=opus"}},
        "voice.ogg",
        "audio/ogg",
        0,
    ),
    "a song": ({"audioMessage": {"mimetype": "audio/mpeg"}}, "audio.mp3", "audio/mpeg", 0),
    "a sticker": ({"stickerMessage": {"mimetype": "image/webp"}}, "sticker.webp", "image/webp", 0),
    "a document": (
        {"documentMessage": {"fileName": "../a b.pdf", "mimetype": "application/pdf", "fileLength": 2**40}},
        "../a b.pdf",  # names are made safe where files are kept
        "application/pdf",
        2**40,
    ),
    "a document of nothing": ({"documentMessage": {}}, "document.bin", "application/octet-stream", 0),
    "a PDF without a name": (
        {"documentMessage": {"mimetype": "application/pdf"}},
        "document.pdf",
        "application/pdf",
        0,
    ),
    "a document with its caption in a wrapper": (
        {
            "documentWithCaptionMessage": {
                "message": {"documentMessage": {"fileName": "a.txt", "caption": "c"}}
            }
        },
        "a.txt",
        "application/octet-stream",
        0,
    ),
    "a picture over buttons": ({"buttonsMessage": {"imageMessage": {}}}, "photo.jpg", "image/jpeg", 0),
    "a film over a template": (
        {"templateMessage": {"hydratedTemplate": {"videoMessage": {}}}},
        "video.mp4",
        "video/mp4",
        0,
    ),
    "a picture of a product": (
        {"productMessage": {"product": {"productImage": {}}}},
        "photo.jpg",
        "image/jpeg",
        0,
    ),
}


@pytest.mark.parametrize(("message", "name", "media_type", "size"), FILES.values(), ids=FILES)
def test_the_file_of_a_message_is_described(
    message: dict[str, Any], name: str, media_type: str, size: int
) -> None:
    inbound = heard(message)

    assert inbound.files == (ReceivedFile(name=name, media_type=media_type, size_bytes=size, source=None),)
