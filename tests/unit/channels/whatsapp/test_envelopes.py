"""Who wrote where and when, whom a message quotes and calls, and who is who."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from orchestrator.channels.whatsapp.jids import jid_from_text, lid_and_phone
from orchestrator.channels.whatsapp.translate import (
    Skip,
    SkipReason,
    same_participants,
    same_people,
    to_inbound,
)
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, Mention, Quoted
from tests.support.whatsapp_events import (
    ANNA_LID,
    ANNA_PHONE,
    BEN_PHONE,
    FAMILY,
    ME,
    OUR_LID,
    OUR_PHONE,
    event,
    heard,
    neonize_types,
    set_jid,
)

HELLO = {"conversation": "hello"}


def test_a_group_message_names_chat_sender_and_time() -> None:
    inbound = heard(HELLO, sent_ms=1_790_000_000_123)

    assert (inbound.chat_jid, inbound.sender_jid, inbound.sender_name) == (FAMILY, ANNA_LID, "Anna")
    assert inbound.sent_at == datetime(2026, 9, 21, 14, 13, 20, 123_000, tzinfo=UTC)
    assert inbound.chat_is_group
    assert not inbound.is_from_me


def test_a_direct_message_is_of_the_chat_that_the_network_names() -> None:
    inbound = heard(HELLO, chat=ANNA_LID, sender=ANNA_LID, alt=ANNA_PHONE)

    assert (inbound.chat_jid, inbound.sender_jid) == (ANNA_LID, ANNA_LID)
    assert not inbound.chat_is_group


def test_our_own_message_from_the_phone_says_so() -> None:
    assert heard(HELLO, chat=BEN_PHONE, sender=OUR_PHONE, from_me=True).is_from_me


def test_a_sender_without_a_name_is_called_by_the_number() -> None:
    assert heard(HELLO, sender=ANNA_PHONE, name="").sender_name == "4915100000001"


def test_a_bot_of_the_network_is_a_bot() -> None:
    assert heard(HELLO, sender="13135550002@bot").sender_is_bot
    assert not heard(HELLO).sender_is_bot


def test_a_message_to_a_list_is_one_of_its_sender() -> None:
    assert heard(HELLO, chat="1234567890@broadcast", sender=ANNA_PHONE).chat_jid == ANNA_PHONE


def test_our_own_list_stays_a_list() -> None:
    assert heard(HELLO, chat="1@broadcast", sender=OUR_PHONE, from_me=True).chat_jid == "1@broadcast"


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"chat": "status@broadcast"}, SkipReason.STATUS),
        ({"chat": "1203@newsletter"}, SkipReason.NEWSLETTER),
        ({"chat": ""}, SkipReason.NO_IDS),
        ({"sender": ""}, SkipReason.NO_IDS),
        ({"message_id": ""}, SkipReason.NO_IDS),
        ({"sent_ms": 0}, SkipReason.NO_TIME),
        ({"sent_ms": -5}, SkipReason.NO_TIME),
        ({"sent_ms": 2**62}, SkipReason.NO_TIME),
    ],
    ids=["status", "newsletter", "no chat", "no sender", "no id", "no time", "before 1970", "no calendar"],
)
def test_what_is_no_message_of_a_chat_is_skipped_with_its_reason(
    info: dict[str, Any], reason: SkipReason
) -> None:
    skip = to_inbound(event(HELLO, **info), ME)

    assert isinstance(skip, Skip)
    assert skip.reason is reason


def test_a_time_in_seconds_is_taken_for_what_it_is() -> None:
    assert heard(HELLO, sent_ms=1_790_000_000).sent_at == datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)


def test_what_was_sent_before_the_link_is_history() -> None:
    me = replace(ME, not_before=datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC))

    assert isinstance(to_inbound(event(HELLO, sent_ms=1_790_000_000_000), me), InboundMessage)
    skip = to_inbound(event(HELLO, sent_ms=1_789_999_999_999), me)
    assert skip == Skip(reason=SkipReason.BEFORE_LINK, chat=FAMILY)


def test_a_message_that_only_stands_in_the_raw_field_is_read() -> None:
    made = event()
    made.Raw.conversation = "hello"

    inbound = to_inbound(made, ME)

    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "hello"


def extended(text: str, **context: Any) -> dict[str, Any]:
    return {"extendedTextMessage": {"text": text, "contextInfo": context}}


@pytest.mark.parametrize(
    "ours", [OUR_LID, OUR_PHONE, "4915199999999:3@s.whatsapp.net", "11112222333344:9@lid"]
)
def test_a_quote_of_ours_is_known_by_either_id(ours: str) -> None:
    message = extended("yes", stanzaID="3EB0OLD", participant=ours, quotedMessage={"conversation": "Tea?"})

    quoted = heard(message).quoted

    assert quoted is not None
    assert (quoted.message_id, quoted.text, quoted.is_ours) == ("3EB0OLD", "Tea?", True)


def test_a_quote_of_somebody_else_is_theirs() -> None:
    message = extended("yes", stanzaID="3EB0OLD", participant=BEN_PHONE, quotedMessage={"imageMessage": {}})

    expected = Quoted(message_id=MessageId("3EB0OLD"), sender_name=BEN_PHONE, text="[Photo]")
    assert heard(message).quoted == expected


def test_where_an_owner_writes_from_our_account_a_quote_of_it_proves_nothing() -> None:
    message = extended("yes", stanzaID="3EB0OLD", participant=OUR_LID)

    inbound = to_inbound(event(message), replace(ME, has_owner=True))

    assert isinstance(inbound, InboundMessage)
    assert inbound.quoted is not None
    assert not inbound.quoted.is_ours


def test_a_quote_of_a_quote_ends_at_the_first() -> None:
    inner = {
        "extendedTextMessage": {
            "text": "b",
            "contextInfo": {"stanzaID": "X", "quotedMessage": {"conversation": "a"}},
        }
    }

    quoted = heard(extended("c", stanzaID="Y", quotedMessage=inner)).quoted

    assert quoted is not None
    assert quoted.text == "b"


@pytest.mark.parametrize("field", ["imageMessage", "videoMessage", "documentMessage"])
def test_a_caption_has_quotes_and_mentions_too(field: str) -> None:
    context = {"stanzaID": "3EB0OLD", "participant": OUR_PHONE, "mentionedJID": [OUR_PHONE]}

    inbound = heard({field: {"caption": "@4915199999999 see", "contextInfo": context}})

    assert inbound.quoted is not None
    assert [mention.is_us for mention in inbound.mentions] == [True]


@pytest.mark.parametrize(
    ("text", "named", "found"),
    [
        ("@4915199999999 hi", [OUR_PHONE], [("@4915199999999", OUR_PHONE, True)]),
        ("@11112222333344 hi", [OUR_LID], [("@11112222333344", OUR_LID, True)]),
        ("hi @4915100000002", [BEN_PHONE], [("@4915100000002", BEN_PHONE, False)]),
        ("@98765432109876", [ANNA_LID, ANNA_LID], [("@98765432109876", ANNA_LID, False)]),
        ("@4915199999999", ["4915199999999:12@s.whatsapp.net"], [("@4915199999999", OUR_PHONE, True)]),
        ("nobody is called", [OUR_PHONE], []),
        ("@4915199999999 by hand", [], []),
        ("@", ["", "@", "nobody"], []),
    ],
    ids=[
        "our number",
        "our hidden id",
        "another",
        "twice",
        "with a device",
        "a ghost",
        "by hand",
        "broken ids",
    ],
)
def test_mentions_are_those_that_stand_in_the_text(
    text: str, named: list[str], found: list[tuple[str, Jid, bool]]
) -> None:
    expected = tuple(Mention(token=token, jid=jid, is_us=is_us) for token, jid, is_us in found)

    assert heard(extended(text, mentionedJID=named)).mentions == expected


@pytest.mark.parametrize(
    ("info", "pairs"),
    [
        ({"sender": ANNA_LID, "alt": ANNA_PHONE}, [(ANNA_LID, ANNA_PHONE)]),
        ({"sender": ANNA_PHONE, "alt": ANNA_LID}, [(ANNA_LID, ANNA_PHONE)]),
        ({"sender": ANNA_LID}, []),
        ({"sender": ANNA_LID, "alt": ANNA_LID}, []),
        ({"sender": ANNA_LID, "alt": BEN_PHONE, "chat": ANNA_LID}, [(ANNA_LID, BEN_PHONE)]),
        (
            {
                "chat": ANNA_LID,
                "sender": OUR_LID,
                "alt": OUR_PHONE,
                "recipient_alt": ANNA_PHONE,
                "from_me": True,
            },
            [(OUR_LID, OUR_PHONE), (ANNA_LID, ANNA_PHONE)],
        ),
        ({"chat": "13@bot", "sender": "13@bot", "alt": ANNA_PHONE}, []),
    ],
    ids=["hidden first", "phone first", "no second", "same kind", "direct", "from our phone", "a bot"],
)
def test_g6_a_message_tells_which_ids_are_one_person(
    info: dict[str, Any], pairs: list[tuple[Jid, Jid]]
) -> None:
    assert list(same_people(event(HELLO, **info).Info)) == pairs


def test_g6_a_group_tells_it_of_its_people() -> None:
    group = neonize_types.GroupInfo()
    for jid, lid, phone in (
        (ANNA_LID, ANNA_LID, ANNA_PHONE),
        (BEN_PHONE, "", BEN_PHONE),
        (OUR_PHONE, OUR_LID, ""),
    ):
        person = group.Participants.add()
        set_jid(person.JID, jid)
        set_jid(person.LID, lid)
        set_jid(person.PhoneNumber, phone)

    assert same_participants(group) == ((ANNA_LID, ANNA_PHONE), (OUR_LID, OUR_PHONE))


@pytest.mark.parametrize(
    ("text", "jid"),
    [
        ("4915@s.whatsapp.net", "4915@s.whatsapp.net"),
        ("4915:12@s.whatsapp.net", "4915@s.whatsapp.net"),
        ("4915.0:12@s.whatsapp.net", "4915@s.whatsapp.net"),
        ("4915_1:12@s.whatsapp.net", "4915@s.whatsapp.net"),
        ("987:3@lid", "987@lid"),
        ("1203-1500@g.us", "1203-1500@g.us"),
        ("a.1@bot", "a.1@bot"),
        ("", None),
        ("4915", None),
        ("@lid", None),
        ("4915@", None),
    ],
)
def test_an_id_in_a_text_is_read_without_its_device(text: str, jid: str | None) -> None:
    assert jid_from_text(text) == jid


def test_two_ids_are_a_pair_only_if_they_are_of_both_kinds() -> None:
    assert lid_and_phone(ANNA_PHONE, ANNA_LID) == (ANNA_LID, ANNA_PHONE)
    assert lid_and_phone(ANNA_PHONE, FAMILY) is None
    assert lid_and_phone(None, ANNA_LID) is None
