"""What each kind of message says, in the words that an agent reads."""

from typing import Any

import pytest

from orchestrator.channels.whatsapp.translate import to_inbound
from orchestrator.contracts.records.messages import InboundMessage
from tests.support.whatsapp_events import ME, Message, event, heard

VCARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ben Bo\nitem1.TEL;waid=4915:+49 151 0000\nORG:Zoo;\nEND:VCARD"
FOLDED = "BEGIN:VCARD\r\nFN:A very long na\r\n me\r\nEMAIL:a@b.c\r\nEND:VCARD"
KEY = {"remoteJID": "1@g.us", "ID": "3EB0OLD"}

SAID: dict[str, tuple[dict[str, Any], str]] = {
    "plain text": ({"conversation": "hello"}, "hello"),
    "plain text with line breaks": ({"conversation": "a\n\n b"}, "a\n\n b"),
    "plain text of blanks": ({"conversation": "  "}, "  "),
    "a text that looks like a place-holder": ({"conversation": "[Photo]"}, "[Photo]"),
    "text with a preview": (
        {"extendedTextMessage": {"text": "see https://a.example", "title": "A", "matchedText": "https://a"}},
        "see https://a.example",
    ),
    "a photo": ({"imageMessage": {"mimetype": "image/jpeg"}}, "[Photo]"),
    "a photo with a caption": ({"imageMessage": {"caption": "us"}}, "us"),
    "a film": ({"videoMessage": {"seconds": 65}}, "[Video, 1:05]"),
    "a film with a caption": ({"videoMessage": {"caption": "sea", "seconds": 3}}, "sea"),
    "a film without a length": ({"videoMessage": {}}, "[Video, 0:00]"),
    "a GIF": ({"videoMessage": {"gifPlayback": True, "seconds": 2}}, "[GIF]"),
    "a round film": ({"ptvMessage": {"seconds": 12}}, "[Video message, 0:12]"),
    "K5: a voice message is named as one": (
        {"audioMessage": {"PTT": True, "seconds": 7}},
        "[Voice message, 0:07]",
    ),
    "a long voice message": ({"audioMessage": {"PTT": True, "seconds": 3723}}, "[Voice message, 1:02:03]"),
    "a song": ({"audioMessage": {"seconds": 185}}, "[Audio, 3:05]"),
    "a document": ({"documentMessage": {"fileName": "rent.pdf"}}, "[Document: rent.pdf]"),
    "a document with a title only": ({"documentMessage": {"title": "Rent"}}, "[Document: Rent]"),
    "a document without a name": ({"documentMessage": {}}, "[Document]"),
    "a document with a caption": ({"documentMessage": {"caption": "read", "fileName": "a.pdf"}}, "read"),
    "a sticker": ({"stickerMessage": {}}, "[Sticker]"),
    "a sticker that means something": ({"stickerMessage": {"emojis": "😀"}}, "[Sticker: 😀]"),
    "a contact": (
        {"contactMessage": {"displayName": "Ben", "vcard": VCARD}},
        "[Contact: Ben, +49 151 0000, Zoo]",
    ),
    "a contact named on its card only": (
        {"contactMessage": {"vcard": VCARD}},
        "[Contact: Ben Bo, +49 151 0000, Zoo]",
    ),
    "a contact with folded lines": (
        {"contactMessage": {"vcard": FOLDED}},
        "[Contact: A very long name, a@b.c]",
    ),
    "a contact without a card": ({"contactMessage": {"displayName": "Ben"}}, "[Contact: Ben]"),
    "an empty contact": ({"contactMessage": {}}, "[Contact]"),
    "a card that is none": ({"contactMessage": {"displayName": "B", "vcard": "::;;\n\n:"}}, "[Contact: B]"),
    "several contacts": (
        {
            "contactsArrayMessage": {
                "displayName": "2 people",
                "contacts": [{"displayName": "A"}, {"displayName": "B"}],
            }
        },
        "[Contacts: 2 people]\n- A\n- B",
    ),
    "a place": (
        {
            "locationMessage": {
                "degreesLatitude": 52.5,
                "degreesLongitude": 13.25,
                "name": "Zoo",
                "address": "Road 1",
            }
        },
        "[Location: Zoo, Road 1, 52.500000, 13.250000]",
    ),
    "a place with a comment": (
        {"locationMessage": {"degreesLatitude": 0, "degreesLongitude": 0, "comment": "here"}},
        "[Location: 0.000000, 0.000000]\nhere",
    ),
    "a place without degrees": ({"locationMessage": {"name": "Zoo"}}, "[Location: Zoo]"),
    "a place that moves": ({"locationMessage": {"name": "Zoo", "isLive": True}}, "[Live location: Zoo]"),
    "a live place": (
        {"liveLocationMessage": {"degreesLatitude": -1.5, "degreesLongitude": 2, "caption": "on my way"}},
        "[Live location: -1.500000, 2.000000]\non my way",
    ),
    "a poll": (
        {"pollCreationMessage": {"name": "When?", "options": [{"optionName": "Mon"}, {"optionName": "Tue"}]}},
        "[Poll: When?]\n- Mon\n- Tue",
    ),
    "a poll with one answer": (
        {
            "pollCreationMessageV3": {
                "name": "Who?",
                "options": [{"optionName": "A"}],
                "selectableOptionsCount": 1,
            }
        },
        "[Poll, one answer: Who?]\n- A",
    ),
    "a poll of the second kind": ({"pollCreationMessageV2": {"name": "Q"}}, "[Poll: Q]"),
    "a poll of the fifth kind": ({"pollCreationMessageV5": {"name": "Q"}}, "[Poll: Q]"),
    "a poll within its wrapper": (
        {"pollCreationMessageV4": {"message": {"pollCreationMessage": {"name": "Q"}}}},
        "[Poll: Q]",
    ),
    "an event": (
        {
            "eventMessage": {
                "name": "Party",
                "startTime": 1_790_000_000,
                "location": {"name": "Zoo"},
                "description": "Come!",
            }
        },
        "[Event: Party, 2026-09-21 14:13 UTC, Zoo]\nCome!",
    ),
    "an event that is off": (
        {"eventMessage": {"name": "Party", "isCanceled": True}},
        "[Event, cancelled: Party]",
    ),
    "an event of no calendar": ({"eventMessage": {"name": "P", "startTime": 2**60}}, "[Event: P]"),
    "an invitation to an event": (
        {"eventInviteMessage": {"eventTitle": "Party", "caption": "come"}},
        "[Invitation to an event: Party]\ncome",
    ),
    "an invitation to a group": (
        {"groupInviteMessage": {"groupName": "Club", "caption": "join us"}},
        "[Invitation to the group: Club]\njoin us",
    ),
    "an invitation to a channel": (
        {"newsletterAdminInviteMessage": {"newsletterName": "News", "caption": "help"}},
        "[Invitation to the channel: News]\nhelp",
    ),
    "a planned call": (
        {"scheduledCallCreationMessage": {"title": "Weekly", "scheduledTimestampMS": 1_790_000_000_000}},
        "[Planned call: Weekly, 2026-09-21 14:13 UTC]",
    ),
    "a pack of stickers": (
        {"stickerPackMessage": {"name": "Cats", "publisher": "Me"}},
        "[Stickers: Cats, Me]",
    ),
    "music": (
        {"musicMessage": {"embeddedMusic": {"title": "Song", "author": "Band"}}},
        "[Music: Song, Band]",
    ),
    "an answer to a question": ({"questionResponseMessage": {"key": KEY, "text": "42"}}, "42"),
    "an answer to a question of a status": (
        {"statusQuotedMessage": {"text": "me too", "originalStatusID": KEY}},
        "me too",
    ),
    "an answer of an AI": (
        {
            "richResponseMessage": {
                "submessages": [
                    {"messageText": "Two ways."},
                    {"codeMetadata": {"codeLanguage": "sh", "codeBlocks": [{"codeContent": "ls"}]}},
                    {"tableMetadata": {"title": "Prices", "rows": [{"items": ["a", "1"]}]}},
                    {"latexMetadata": {"text": "x^2"}},
                    {"imageMetadata": {"imageText": "a cat"}},
                    {"mapMetadata": {"annotations": [{"title": "Zoo", "body": "open"}]}},
                    {"contentItemsMetadata": {"itemsMetadata": [{"reelItem": {"title": "Cats"}}]}},
                ]
            }
        },
        "Two ways.\n```sh\nls\n```\nPrices\na | 1\nx^2\n[Photo: a cat]\nZoo, open\nCats",
    ),
    "an answer of an AI that is passed on": (
        {
            "botForwardedMessage": {
                "message": {"richResponseMessage": {"submessages": [{"messageText": "42"}]}}
            }
        },
        "42",
    ),
    "an answer to a status": ({"statusQuestionAnswerMessage": {"key": KEY, "text": "me"}}, "me"),
    "text beside keys for the group": (
        {"senderKeyDistributionMessage": {"groupID": "1@g.us"}, "conversation": "hi"},
        "hi",
    ),
    "text beside its context": ({"messageContextInfo": {"messageSecret": b"x"}, "conversation": "hi"}, "hi"),
}

CONTEXT_ONLY: dict[str, tuple[dict[str, Any], str]] = {
    "the result of a poll": (
        {
            "pollResultSnapshotMessage": {
                "name": "Q",
                "pollVotes": [{"optionName": "A", "optionVoteCount": 2}],
            }
        },
        "[Poll result: Q]\n- A: 2",
    ),
    "the cover of an album": (
        {"albumMessage": {"expectedImageCount": 3, "expectedVideoCount": 1}},
        "[Album: 3 photos, 1 video]",
    ),
    "a call": ({"callLogMesssage": {"durationSecs": 61}}, "[Call: 1:01]"),
    "a video call": ({"callLogMesssage": {"isVideo": True}}, "[Video call]"),
    "an answer of an AI without words": ({"richResponseMessage": {}}, "[Answer of an AI, not shown here]"),
    "what is masked for all but the phone": (
        {"placeholderMessage": {"type": 0}},
        "[A message that cannot be read: only the phone can show it]",
    ),
    "a message that is shown later": (
        {"conditionalRevealMessage": {"conditionalRevealMessageType": 1}},
        "[A message for later that cannot be read here]",
    ),
}

SILENT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "an empty text": {"conversation": ""},
    "an empty longer text": {"extendedTextMessage": {}},
    "keys for the group": {"senderKeyDistributionMessage": {"groupID": "1@g.us"}},
    "context alone": {"messageContextInfo": {"messageSecret": b"x"}},
    "keys and context": {"messageContextInfo": {}, "senderKeyDistributionMessage": {}},
    "a pinned message": {"pinInChatMessage": {"key": KEY}},
    "a kept message": {"keepInChatMessage": {"key": KEY}},
    "the history": {"messageHistoryBundle": {}},
    "a wish for a number": {"requestPhoneNumberMessage": {}},
    "a call that begins": {"call": {}},
    "a list without words": {"listResponseMessage": {}},
    "an answer without words": {"questionResponseMessage": {"key": KEY}},
    "a sign about statuses": {"statusNotificationMessage": {}},
    "an empty wrapper": {"ephemeralMessage": {}},
    "a wrapper of nothing": {"viewOnceMessage": {"message": {}}},
}


@pytest.mark.parametrize(("message", "text"), SAID.values(), ids=SAID)
def test_what_somebody_said_is_read_and_may_wake(message: dict[str, Any], text: str) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, False)


@pytest.mark.parametrize(("message", "text"), CONTEXT_ONLY.values(), ids=CONTEXT_ONLY)
def test_what_speaks_to_nobody_is_shown_and_wakes_nobody(message: dict[str, Any], text: str) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, True)


@pytest.mark.parametrize("message", SILENT.values(), ids=SILENT)
def test_what_only_programs_say_is_no_message(message: dict[str, Any]) -> None:
    inbound = to_inbound(event(message), ME)

    assert not isinstance(inbound, InboundMessage)
    assert inbound.reason == "protocol"


def test_a_long_poll_is_counted_beyond_its_fiftieth_answer() -> None:
    options = [{"optionName": f"n{number}"} for number in range(60)]

    lines = heard({"pollCreationMessage": {"name": "Q", "options": options}}).text.splitlines()

    assert lines[0] == "[Poll: Q]"
    assert lines[50:] == ["- n49", "- … and 10 more"]


def test_of_an_answer_in_very_many_parts_the_rest_is_counted() -> None:
    parts = [{"messageText": f"n{number}"} for number in range(203)]

    lines = heard({"richResponseMessage": {"submessages": parts}}).text.splitlines()

    assert lines[199:] == ["n199", "[… and 3 more parts]"]


def test_a_kind_that_the_library_does_not_know_is_told_and_wakes_nobody() -> None:
    newer = Message.FromString(Message(messageContextInfo={}).SerializeToString() + b"\xfa\x7f\x03abc")

    inbound = heard(newer)

    assert (inbound.text, inbound.is_context_only) == (
        "[A message of a kind that cannot be shown here]",
        True,
    )


def test_every_kind_of_the_installed_library_has_words_or_is_of_programs() -> None:
    """A field whose reader is missing would be shown to agents by its name."""
    names = [field.name for field in Message.DESCRIPTOR.fields if field.message_type is not None]
    assert len(names) > 100
    for name in names:
        read = to_inbound(event({name: {}}), ME)
        assert not isinstance(read, InboundMessage) or name not in read.text, name


@pytest.mark.parametrize("field", ["questionResponseMessage", "statusQuestionAnswerMessage"])
def test_what_belongs_to_a_message_names_it(field: str) -> None:
    inbound = heard({field: {"key": KEY, "text": "x"}})

    assert inbound.quoted is not None
    assert inbound.quoted.message_id == "3EB0OLD"
