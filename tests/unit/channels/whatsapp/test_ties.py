"""What wrappers say of a message: the same once more, the picture of another one, to be seen once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.translate import to_inbound
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import Change, ChangeKind, InboundMessage
from tests.support.whatsapp_events import ME, Message, e2e, event, heard

FIRST = MessageId("3EB0FIRST")
AGAIN = Change(kind=ChangeKind.REPETITION, message_id=FIRST)
ASSOCIATION = e2e.MessageAssociation.AssociationType
PHOTO = {"imageMessage": {"mimetype": "image/jpeg", "directPath": "/v/1"}}
FILM = {"videoMessage": {"seconds": 5, "directPath": "/v/1"}}
VOICE = {"audioMessage": {"PTT": True, "seconds": 7, "directPath": "/v/1"}}
ONCE = ("viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension")


def belonging(message: dict[str, Any], kind: str, *, to: str = FIRST) -> dict[str, Any]:
    """The message with what clients say it belongs to."""
    association = {"associationType": ASSOCIATION.Value(kind), "parentMessageKey": {"ID": to}}
    return {**message, "messageContextInfo": {"messageAssociation": association}}


def child(message: dict[str, Any], kind: str) -> dict[str, Any]:
    """The message as a client sends it behind its first form."""
    return belonging({"associatedChildMessage": {"message": message}}, kind)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (PHOTO, "HD_IMAGE_DUAL_UPLOAD"),
        (FILM, "HD_VIDEO_DUAL_UPLOAD"),
        (FILM, "HEVC_VIDEO_DUAL_UPLOAD"),
        (FILM, "MOTION_PHOTO"),
    ],
)
def test_a_picture_that_comes_again_is_the_first_one_again(message: dict[str, Any], kind: str) -> None:
    inbound = heard(child(message, kind), message_id="3EB0SECOND")

    assert inbound.change == AGAIN
    assert inbound.message_id == "3EB0SECOND"
    assert len(inbound.files) == 1  # the first may be lost


@pytest.mark.parametrize(
    "wrapped",
    [
        belonging(PHOTO, "HD_IMAGE_DUAL_UPLOAD"),
        {"associatedChildMessage": {"message": belonging(PHOTO, "HD_IMAGE_DUAL_UPLOAD")}},
        {"ephemeralMessage": {"message": child(PHOTO, "HD_IMAGE_DUAL_UPLOAD")}},
        {"deviceSentMessage": {"message": child(PHOTO, "HD_IMAGE_DUAL_UPLOAD")}},
    ],
    ids=["without a wrapper", "said inside", "disappearing", "from another device of ours"],
)
def test_it_is_known_wherever_the_association_stands(wrapped: dict[str, Any]) -> None:
    assert heard(wrapped).change == AGAIN


def test_it_is_known_when_the_library_took_the_wrapper_off() -> None:
    made = event(PHOTO)
    made.Raw.CopyFrom(Message(**child(PHOTO, "HD_IMAGE_DUAL_UPLOAD")))

    inbound = to_inbound(made, ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.change == AGAIN


@pytest.mark.parametrize(
    "message",
    [
        PHOTO,
        belonging(PHOTO, "MEDIA_ALBUM"),
        belonging(PHOTO, "HD_IMAGE_DUAL_UPLOAD", to=""),
        belonging({"conversation": "hello"}, "HD_IMAGE_DUAL_UPLOAD"),
    ],
    ids=["a photo", "one of an album", "again of nothing", "a text that claims it"],
)
def test_everything_else_is_a_message_of_its_own(message: dict[str, Any]) -> None:
    assert heard(message).change is None


@pytest.mark.parametrize("kind", ["EVENT_COVER_IMAGE", "MEDIA_POLL"])
def test_the_picture_of_an_event_or_a_poll_names_it_and_wakes_nobody(kind: str) -> None:
    inbound = heard(belonging({"eventCoverImage": {"message": PHOTO}}, kind))

    assert inbound.is_context_only
    assert inbound.quoted is not None
    assert inbound.quoted.message_id == FIRST
    assert len(inbound.files) == 1


def test_a_comment_names_what_it_speaks_to_and_may_wake() -> None:
    comment = {"message": {"conversation": "@Andy why?"}, "targetMessageKey": {"ID": FIRST}}

    inbound = heard({"commentMessage": comment})

    assert (inbound.text, inbound.is_context_only) == ("@Andy why?", False)
    assert inbound.quoted is not None
    assert inbound.quoted.message_id == FIRST


@pytest.mark.parametrize("wrapper", ONCE)
@pytest.mark.parametrize(
    ("message", "text"),
    [
        (PHOTO, "[Photo, view once]"),
        (FILM, "[Video, 0:05, view once]"),
        ({"ptvMessage": FILM["videoMessage"]}, "[Video message, 0:05, view once]"),
        (VOICE, "[Voice message, 0:07, view once]"),
        ({"imageMessage": {**PHOTO["imageMessage"], "caption": "@Andy us"}}, "@Andy us\n[View once]"),
        ({"imageMessage": {**PHOTO["imageMessage"], "caption": "[Photo]"}}, "[Photo]\n[View once]"),
    ],
    ids=["a photo", "a film", "a round film", "a voice message", "words", "words in brackets"],
)
def test_what_is_to_be_seen_once_says_so_behind_its_words(
    wrapper: str, message: dict[str, Any], text: str
) -> None:
    inbound = heard({wrapper: {"message": message}})

    assert (inbound.text, len(inbound.files)) == (text, 1)


@pytest.mark.parametrize("flag", ["IsViewOnce", "IsViewOnceV2", "IsViewOnceV2Extension"])
def test_it_says_so_when_the_library_took_the_wrapper_off(flag: str) -> None:
    made = event(PHOTO)
    setattr(made, flag, True)

    inbound = to_inbound(made, ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "[Photo, view once]"


def test_it_says_so_by_the_mark_of_the_picture_itself() -> None:
    assert heard({"imageMessage": {**PHOTO["imageMessage"], "viewOnce": True}}).text == "[Photo, view once]"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"imageMessage": {}}, "[Photo, view once: only the phone can show it]"),
        ({"imageMessage": {"caption": "us"}}, "us\n[View once: only the phone can show it]"),
    ],
    ids=["a photo", "with words"],
)
def test_what_was_kept_from_this_device_says_so(message: dict[str, Any], text: str) -> None:
    assert heard({"viewOnceMessageV2": {"message": message}}).text == text


@pytest.mark.parametrize("wrapper", ONCE)
@pytest.mark.parametrize(
    "message",
    [
        {"conversation": "hello"},
        {"documentMessage": {"caption": "hello"}},
        {"buttonsMessage": {"contentText": "hello", "imageMessage": {"viewOnce": True}}},
    ],
    ids=["a text", "a document", "buttons of a business"],
)
def test_what_nobody_can_send_to_be_seen_once_is_not_marked(wrapper: str, message: dict[str, Any]) -> None:
    assert heard({wrapper: {"message": message}}).text == "hello"


@given(
    st.lists(st.sampled_from(["ephemeralMessage", "viewOnceMessage", "associatedChildMessage"]), max_size=9),
    st.integers(0, 9),
)
def test_a_tie_is_found_at_any_depth(wrappers: list[str], depth: int) -> None:
    message: dict[str, Any] = PHOTO
    for place, wrapper in enumerate(wrappers):
        inner = belonging(message, "HD_IMAGE_DUAL_UPLOAD") if place == depth % len(wrappers) else message
        message = {wrapper: {"message": inner}}

    inbound = heard(message)

    assert (inbound.change == AGAIN) is bool(wrappers)
    assert ("view once" in inbound.text) is ("viewOnceMessage" in wrappers)
