"""The file in a message, as it is described before it is fetched."""

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.channels.whatsapp.media import fill_fetch_message
from orchestrator.channels.whatsapp.translate import file_in
from orchestrator.contracts.records.messages import ReceivedFile
from tests.support.whatsapp_events import Message, event, heard

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

    [file] = inbound.files
    is_voice = name == "voice.ogg"
    assert file == ReceivedFile(
        name=name, media_type=media_type, size_bytes=size, source=None, is_voice=is_voice
    )


FETCHED = {
    "a photo": ({"imageMessage": {}}, "imageMessage"),
    "a film": ({"videoMessage": {}}, "videoMessage"),
    "a round film": ({"ptvMessage": {}}, "videoMessage"),
    "a sound": ({"audioMessage": {}}, "audioMessage"),
    "a document": ({"documentMessage": {}}, "documentMessage"),
    "a sticker": ({"stickerMessage": {}}, "stickerMessage"),
    "a photo to be viewed once": ({"viewOnceMessage": {"message": {"imageMessage": {}}}}, "imageMessage"),
    "a voice message to be heard once": (
        {"viewOnceMessageV2Extension": {"message": {"audioMessage": {}}}},
        "audioMessage",
    ),
    "a disappearing document": (
        {"ephemeralMessage": {"message": {"documentMessage": {}}}},
        "documentMessage",
    ),
    "an edited photo": (
        {"protocolMessage": {"type": 14, "key": {"ID": "3EB0"}, "editedMessage": {"imageMessage": {}}}},
        "imageMessage",
    ),
    "a picture over buttons": ({"buttonsMessage": {"imageMessage": {}}}, "imageMessage"),
    "a picture of a product": ({"productMessage": {"product": {"productImage": {}}}}, "imageMessage"),
}
KEYS: dict[str, Any] = {
    "directPath": "/v/t62.7118-24/1?oh=2",
    "mediaKey": b"key",
    "fileSHA256": b"sha",
    "fileEncSHA256": b"enc",
    "fileLength": 9,
    "mediaKeyTimestamp": 1_790_000_000,
    "mimetype": "image/x",
}


def parts_of(message: Any) -> Iterator[Any]:
    """The parts of a message that hold a file."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if "mediaKey" in field.message_type.fields_by_name:
            yield value
        yield from parts_of(value)


def keyed(message: dict[str, Any]) -> Any:
    """The message whose file has all that a client sends with one."""
    made = Message(**message)
    for part in parts_of(made):
        for name, value in {**KEYS, "URL": "http://169.254.169.254/latest"}.items():
            setattr(part, name, value)
        part.contextInfo.stanzaID = "3EB0"
        if "JPEGThumbnail" in part.DESCRIPTOR.fields_by_name:
            part.JPEGThumbnail = b"small"
    return made


@pytest.mark.parametrize(("message", "field"), FETCHED.values(), ids=FETCHED)
def test_a_file_is_fetched_with_its_keys_and_with_nothing_else(message: dict[str, Any], field: str) -> None:
    file = file_in(event(keyed(message)))
    assert file is not None
    asked = Message()

    fill_fetch_message(asked, file)

    assert asked == Message(**{field: KEYS})


def test_an_address_of_the_senders_choice_is_never_fetched() -> None:
    """Only the path counts, which is below WhatsApp's own hosts."""
    elsewhere = {"URL": "http://127.0.0.1:8080/admin", "mediaKey": b"key", "fileLength": 1}

    file = file_in(event({"imageMessage": elsewhere}))

    assert file is not None
    assert not file.is_fetchable
