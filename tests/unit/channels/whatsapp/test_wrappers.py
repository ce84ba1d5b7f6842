"""Messages within messages: what counts is the innermost one. Case G16."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.translate import to_inbound
from orchestrator.contracts.records.messages import ChangeKind, InboundMessage
from tests.support.whatsapp_events import ME, event, heard

PLAIN_WRAPPERS = (
    "associatedChildMessage",
    "botForwardedMessage",
    "botInvokeMessage",
    "botTaskMessage",
    "documentWithCaptionMessage",
    "editedMessage",
    "ephemeralMessage",
    "eventCoverImage",
    "groupMentionedMessage",
    "groupStatusMentionMessage",
    "groupStatusMessage",
    "groupStatusMessageV2",
    "lottieStickerMessage",
    "pollCreationMessageV4",
    "pollCreationOptionImageMessage",
    "questionMessage",
    "questionReplyMessage",
    "spoilerMessage",
    "statusAddYours",
    "statusMentionMessage",
    "viewOnceMessage",
    "viewOnceMessageV2",
    "viewOnceMessageV2Extension",
)
OTHER_WRAPPERS = ("deviceSentMessage", "commentMessage")


@pytest.mark.parametrize("wrapper", [*PLAIN_WRAPPERS, *OTHER_WRAPPERS])
def test_g16_a_text_in_a_wrapper_is_heard(wrapper: str) -> None:
    assert heard({wrapper: {"message": {"conversation": "hello"}}}).text == "hello"


@pytest.mark.parametrize("wrapper", ["ephemeralMessage", "associatedChildMessage", "spoilerMessage"])
def test_g16_a_photo_in_a_wrapper_keeps_its_file(wrapper: str) -> None:
    inbound = heard({wrapper: {"message": {"imageMessage": {"caption": "us", "mimetype": "image/png"}}}})

    assert inbound.text == "us"
    assert [file.name for file in inbound.files] == ["photo.png"]


@pytest.mark.parametrize("wrapper", ["ephemeralMessage", "deviceSentMessage"])
def test_g16_quotes_and_mentions_are_found_within_a_wrapper(wrapper: str) -> None:
    context = {"stanzaID": "3EB0OLD", "mentionedJID": ["4915@s.whatsapp.net"]}
    text = {"extendedTextMessage": {"text": "@4915 look", "contextInfo": context}}

    inbound = heard({wrapper: {"message": text}})

    assert inbound.quoted is not None
    assert [mention.token for mention in inbound.mentions] == ["@4915"]


def test_g16_an_edit_within_its_wrapper_is_an_edit() -> None:
    new = {"key": {"ID": "3EB0OLD"}, "type": 14, "editedMessage": {"conversation": "better"}}

    inbound = heard({"editedMessage": {"message": {"protocolMessage": new}}})

    assert inbound.text == "better"
    assert inbound.change is not None
    assert (inbound.change.kind, inbound.change.message_id) == (ChangeKind.EDIT, "3EB0OLD")


@given(st.lists(st.sampled_from([*PLAIN_WRAPPERS, *OTHER_WRAPPERS]), max_size=10))
def test_g16_up_to_ten_wrappers_are_taken_off(wrappers: list[str]) -> None:
    message: dict[str, Any] = {"conversation": "hello"}
    for wrapper in wrappers:
        message = {wrapper: {"message": message}}

    assert heard(message).text == "hello"


def test_a_hundred_wrappers_are_no_message_and_no_error() -> None:
    message: dict[str, Any] = {"conversation": "hello"}
    for _ in range(90):
        message = {"ephemeralMessage": {"message": message}}

    assert not isinstance(to_inbound(event(message), ME), InboundMessage)
