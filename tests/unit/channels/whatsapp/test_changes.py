"""Edits and revocations, and the other words of the protocol, which are no messages."""

from typing import Any

import pytest

from orchestrator.channels.whatsapp.translate import Skip, SkipReason, to_inbound, undecryptable
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.messages import Change, ChangeKind, InboundMessage
from tests.support.whatsapp_events import ANNA_LID, FAMILY, ME, e2e, event, undecryptable_event

EDIT, REVOKE = 14, 0
PROTOCOL = e2e.ProtocolMessage.Type


def protocol(kind: int | None, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"key": {"ID": "3EB0OLD"}, **fields}
    return {"protocolMessage": body if kind is None else {"type": kind, **body}}


@pytest.mark.parametrize(
    ("new", "text"),
    [
        ({"conversation": "better"}, "better"),
        ({"extendedTextMessage": {"text": "better"}}, "better"),
        ({"imageMessage": {"caption": "better"}}, "better"),
        ({"documentWithCaptionMessage": {"message": {"documentMessage": {"caption": "better"}}}}, "better"),
        ({"ephemeralMessage": {"message": {"conversation": "better"}}}, "better"),
    ],
    ids=["text", "text with context", "caption", "caption in a wrapper", "disappearing text"],
)
def test_an_edit_says_what_the_earlier_message_says_now(new: dict[str, Any], text: str) -> None:
    inbound = to_inbound(event(protocol(EDIT, editedMessage=new), message_id="3EB0NEW"), ME)

    assert isinstance(inbound, InboundMessage)
    assert (inbound.text, inbound.message_id) == (text, "3EB0NEW")
    assert inbound.change == Change(kind=ChangeKind.EDIT, message_id=MessageId("3EB0OLD"))


def test_an_edit_keeps_its_mentions() -> None:
    context = {"mentionedJID": ["4915199999999@s.whatsapp.net"]}
    new = {"extendedTextMessage": {"text": "@4915199999999 now", "contextInfo": context}}

    inbound = to_inbound(event(protocol(EDIT, editedMessage=new)), ME)

    assert isinstance(inbound, InboundMessage)
    assert [mention.is_us for mention in inbound.mentions] == [True]


@pytest.mark.parametrize(("edit", "by_admin"), [("7", False), ("", False), ("8", True)])
def test_a_revocation_names_its_message_and_who_takes_it_back(edit: str, by_admin: bool) -> None:
    inbound = to_inbound(event(protocol(REVOKE), edit=edit), ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.text == ""
    assert inbound.is_context_only
    assert inbound.change == Change(
        kind=ChangeKind.REVOCATION, message_id=MessageId("3EB0OLD"), by_admin=by_admin
    )


def test_a_direct_chat_has_no_admins() -> None:
    inbound = to_inbound(event(protocol(REVOKE), edit="8", chat=ANNA_LID), ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.change == Change(kind=ChangeKind.REVOCATION, message_id=MessageId("3EB0OLD"))


@pytest.mark.parametrize(
    "message",
    [
        protocol(None),  # the type that is not there reads as the first one, a revocation
        {"protocolMessage": {"type": REVOKE}},
        {"protocolMessage": {"type": EDIT, "editedMessage": {"conversation": "x"}}},
        protocol(EDIT),
        protocol(EDIT, editedMessage={}),
        protocol(EDIT, editedMessage={"senderKeyDistributionMessage": {}}),
    ],
    ids=["no type", "revokes nothing", "edits nothing", "no new text", "empty new text", "keys for text"],
)
def test_a_change_of_nothing_is_no_message(message: dict[str, Any]) -> None:
    assert to_inbound(event(message), ME) == Skip(reason=SkipReason.PROTOCOL, chat=FAMILY)


@pytest.mark.parametrize(
    "kind", [each.name for each in PROTOCOL.DESCRIPTOR.values if each.number not in (EDIT, REVOKE)]
)
def test_every_other_word_of_the_protocol_is_no_message(kind: str) -> None:
    inbound = to_inbound(event(protocol(PROTOCOL.Value(kind))), ME)

    assert inbound == Skip(reason=SkipReason.PROTOCOL, chat=FAMILY)


@pytest.mark.parametrize(
    "fields",
    [{"encPayload": b"x"}, {"secretEncType": 2}, {"secretEncType": 3, "targetMessageKey": {"ID": "3EB0OLD"}}],
    ids=["of no kind", "of nothing", "of when it is sent"],
)
def test_an_encrypted_change_of_nothing_that_was_read_is_skipped_by_its_name(fields: dict[str, Any]) -> None:
    inbound = to_inbound(event({"secretEncryptedMessage": fields}), ME)

    assert inbound == Skip(reason=SkipReason.ENCRYPTED_CHANGE, chat=FAMILY)


@pytest.mark.parametrize(
    ("is_unavailable", "why"),
    [
        (False, "it could not be decrypted"),
        (True, "only the phone can show it, as is so with what can be viewed once"),
    ],
)
def test_g8_an_undecryptable_message_is_shown_and_wakes_nobody(is_unavailable: bool, why: str) -> None:
    inbound = undecryptable(undecryptable_event(is_unavailable=is_unavailable, message_id="3EB0A"), ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.text == f"[A message that cannot be read: {why}]"
    assert inbound.is_context_only
    assert inbound.message_id == "undecryptable:3EB0A"  # the message itself may still come by its own id


def test_g8_what_the_network_says_to_hide_is_skipped_with_its_reason() -> None:
    inbound = undecryptable(undecryptable_event(hide=True), ME)

    assert inbound == Skip(reason=SkipReason.NOT_TO_BE_SHOWN, chat=FAMILY)
