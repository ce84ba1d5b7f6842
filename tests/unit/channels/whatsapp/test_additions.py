"""What people add to messages, and messages about money."""

from typing import Any

import pytest

from tests.support.whatsapp_events import heard

KEY = {"remoteJID": "1@g.us", "ID": "3EB0OLD"}
CHANGED = "[Changed the quoted message; what it says now cannot be read here]"

ADDED: dict[str, tuple[dict[str, Any], str]] = {
    "a reaction": ({"reactionMessage": {"key": KEY, "text": "👍"}}, "[Reaction: 👍]"),
    "a reaction taken back": ({"reactionMessage": {"key": KEY, "text": ""}}, "[Reaction taken back]"),
    "an encrypted reaction": (
        {"encReactionMessage": {"targetMessageKey": KEY}},
        "[Reaction that cannot be read here]",
    ),
    "a sticker on a status": (
        {"statusStickerInteractionMessage": {"key": KEY}},
        "[Reaction with a sticker]",
    ),
    "an encrypted comment": (
        {"encCommentMessage": {"targetMessageKey": KEY}},
        "[Comment that cannot be read here]",
    ),
    "a vote": ({"pollUpdateMessage": {"pollCreationMessageKey": KEY}}, "[Voted in a poll]"),
    "an answer that is added to a poll": (
        {"pollAddOptionMessage": {"pollCreationMessageKey": KEY, "addOption": {"optionName": "Wed"}}},
        "[Added to a poll: Wed]",
    ),
    "an answer to an event": (
        {"encEventResponseMessage": {"eventCreationMessageKey": KEY}},
        "[Answered an event]",
    ),
    "a planned call that is off": (
        {"scheduledCallEditMessage": {"key": KEY, "editType": 1}},
        "[Planned call, cancelled]",
    ),
    "a planned call that is another": ({"scheduledCallEditMessage": {"key": KEY}}, "[Planned call, changed]"),
    **{
        f"an encrypted edit of kind {kind}": (
            {"secretEncryptedMessage": {"targetMessageKey": KEY, "secretEncType": kind, "encPayload": b"x"}},
            CHANGED,
        )
        for kind in (1, 2, 4, 5)
    },
}

SHARED = {"value": 12_500, "offset": 1_000, "currencyCode": "EUR"}
MONEY: dict[str, tuple[dict[str, Any], str, bool]] = {
    "money not given": ({"declinePaymentRequestMessage": {}}, "[Answer to a payment]", True),
    "money not wanted any more": ({"cancelPaymentRequestMessage": {}}, "[Answer to a payment]", True),
    "a reminder": (
        {"paymentReminderMessage": {"description": "rent", "amount": SHARED}},
        "[Reminder of a payment: rent, 12.50 EUR]",
        True,
    ),
    "a wish to share": (
        {"splitPaymentMessage": {"description": "Pizza", "totalAmount": SHARED}},
        "[Asks to share a payment: Pizza, 12.50 EUR]",
        False,
    ),
    "a wish to share an amount that is none": (
        {"splitPaymentMessage": {"totalAmount": {"value": 2**62, "currencyCode": "EUR"}}},
        "[Asks to share a payment]",
        False,
    ),
    "what became of it": ({"splitPaymentUpdateMessage": {"splitID": "1"}}, "[Shared payment, changed]", True),
}


@pytest.mark.parametrize(("message", "text"), ADDED.values(), ids=ADDED)
def test_what_is_added_names_its_message_and_wakes_nobody(message: dict[str, Any], text: str) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, True)
    assert inbound.quoted is not None
    assert inbound.quoted.message_id == "3EB0OLD"


@pytest.mark.parametrize(("message", "text", "is_context_only"), MONEY.values(), ids=MONEY)
def test_money_is_told_in_words_and_wakes_only_as_a_wish(
    message: dict[str, Any], text: str, is_context_only: bool
) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, is_context_only)
