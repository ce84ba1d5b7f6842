"""Files that go out, as real protobuf objects."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.file_messages import fill_file_message, kind_of
from orchestrator.channels.whatsapp.opus import is_opus, seconds_of
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import Mention, OutboundFile, OutboundMessage
from tests.support.ogg_opus import ogg_opus
from tests.support.whatsapp_events import ANNA_LID, BEN_PHONE, FAMILY, Message, neonize_types

SPOKEN = ogg_opus(seconds=2.5)
UPLOADED = neonize_types.UploadResponse(
    url="https://example.org/f",
    DirectPath="/f",
    MediaKey=b"key",
    FileEncSHA256=b"enc",
    FileSHA256=b"sha",
    FileLength=3,
)


def outbound(text: str, media_type: str) -> OutboundMessage:
    """A file on its way, with its caption."""
    file = OutboundFile(name="it.bin", media_type=media_type, size_bytes=3, path=Path("/x"))
    return OutboundMessage(chat_jid=FAMILY, text=text, outbox_id=1, file=file)


def shown(content: bytes, message: OutboundMessage) -> tuple[str, Any]:
    """The one part of the `Message` that goes out, and its name."""
    assert message.file is not None
    kind, made = kind_of(message.file.media_type, content, has_caption=bool(message.text)), Message()
    fill_file_message(made, kind, message.file, content, message, UPLOADED)
    [(field, part)] = made.ListFields()
    assert field.name == kind.field
    return field.name, part


@pytest.mark.parametrize(
    ("media_type", "content", "has_caption", "field", "upload"),
    [
        ("image/jpeg", b"x", True, "imageMessage", "Image"),
        ("image/png", b"x", False, "imageMessage", "Image"),
        ("image/tiff", b"x", False, "documentMessage", "Document"),
        ("video/mp4", b"x", True, "videoMessage", "Video"),
        ("audio/ogg; codecs=opus", SPOKEN, False, "audioMessage", "Audio"),
        ("audio/ogg", b"OggS vorbis", False, "documentMessage", "Document"),
        ("audio/ogg", SPOKEN, True, "documentMessage", "Document"),
        ("audio/mpeg", b"x", False, "audioMessage", "Audio"),
        ("audio/mpeg", b"x", True, "documentMessage", "Document"),
        ("application/pdf", b"x", True, "documentMessage", "Document"),
        ("image/png", b"x" * 16_000_001, False, "documentMessage", "Document"),
        ("", b"", False, "documentMessage", "Document"),
    ],
)
def test_each_type_is_shown_as_phones_show_it_best(
    media_type: str, content: bytes, has_caption: bool, field: str, upload: str
) -> None:
    kind = kind_of(media_type, content, has_caption=has_caption)

    assert (kind.field, kind.upload) == (field, upload)


@pytest.mark.parametrize("caption", ["", "Here it is"])
@pytest.mark.parametrize("media_type", ["image/png", "video/mp4", "audio/mpeg", "application/pdf"])
def test_the_message_holds_what_the_network_gave_for_the_bytes(media_type: str, caption: str) -> None:
    _, part = shown(b"abc", outbound(caption, media_type))

    assert (part.URL, part.directPath, part.mediaKey) == ("https://example.org/f", "/f", b"key")
    assert (part.fileSHA256, part.fileEncSHA256, part.fileLength) == (b"sha", b"enc", 3)
    assert part.mimetype == media_type
    assert getattr(part, "caption", "") == caption


def test_spoken_opus_is_a_voice_message_of_its_length() -> None:
    field, part = shown(SPOKEN, outbound("", "audio/ogg"))

    assert (field, part.PTT, part.seconds) == ("audioMessage", True, 3)
    assert part.mimetype == "audio/ogg; codecs=opus"


def test_a_caption_quotes_and_calls_as_a_text_does() -> None:
    message = outbound("for @4915100000002", "image/png")
    ben = Mention(token="@4915100000002", jid=BEN_PHONE)
    answer = OutboundMessage(
        chat_jid=FAMILY,
        text=message.text,
        outbox_id=1,
        file=message.file,
        mentions=(ben, ben),
        reply_to=MessageId("3EB0OLD"),
        reply_to_sender=ANNA_LID,
        reply_to_text="A photo?",
    )

    _, part = shown(b"png", answer)

    assert list(part.contextInfo.mentionedJID) == [BEN_PHONE]
    assert part.contextInfo.stanzaID == "3EB0OLD"
    assert part.contextInfo.quotedMessage.conversation == "A photo?"


def test_a_file_that_quotes_nothing_has_no_context() -> None:
    _, part = shown(b"png", outbound("", "image/png"))

    assert not part.HasField("contextInfo")


@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda tail: SPOKEN[:60] + tail))
def test_the_length_of_any_bytes_is_a_length(content: bytes) -> None:
    assert 0 <= seconds_of(content) <= 86_400
    assert is_opus(content) == (content[:4] == b"OggS" and b"OpusHead" in content[:64])
