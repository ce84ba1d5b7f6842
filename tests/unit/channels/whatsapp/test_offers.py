"""What businesses send and what people answer, in the words that an agent reads."""

from typing import Any

import pytest

from tests.support.whatsapp_events import heard

SAID: dict[str, tuple[dict[str, Any], str]] = {
    "buttons": (
        {
            "buttonsMessage": {
                "contentText": "Pizza?",
                "footerText": "by us",
                "buttons": [{"buttonText": {"displayText": "Yes"}}, {"buttonText": {"displayText": "No"}}],
            }
        },
        "Pizza?\nby us\n- Yes\n- No",
    ),
    "a pressed button": (
        {"buttonsResponseMessage": {"selectedDisplayText": "Yes", "selectedButtonID": "y"}},
        "Yes",
    ),
    "a pressed button without words": ({"buttonsResponseMessage": {"selectedButtonID": "y"}}, "y"),
    "a list": (
        {
            "listMessage": {
                "title": "Menu",
                "description": "Choose",
                "buttonText": "Open",
                "sections": [{"rows": [{"title": "Soup", "description": "hot"}, {"title": "Rice"}]}],
            }
        },
        "Menu\nChoose\n[List: Open]\n- Soup, hot\n- Rice",
    ),
    "a choice of a list": ({"listResponseMessage": {"title": "Soup"}}, "Soup"),
    "a choice of a list by its id": (
        {"listResponseMessage": {"singleSelectReply": {"selectedRowID": "row 1"}}},
        "row 1",
    ),
    "a template": (
        {
            "templateMessage": {
                "hydratedTemplate": {
                    "hydratedTitleText": "Parcel",
                    "hydratedContentText": "It comes today.",
                    "hydratedFooterText": "Post",
                    "hydratedButtons": [{"urlButton": {"displayText": "Track"}}],
                }
            }
        },
        "Parcel\nIt comes today.\nPost\n- Track",
    ),
    "a template of the older kind": (
        {"templateMessage": {"hydratedFourRowTemplate": {"hydratedContentText": "Hi"}}},
        "Hi",
    ),
    "a template with an interactive part": (
        {"templateMessage": {"interactiveMessageTemplate": {"body": {"text": "Tap"}}}},
        "Tap",
    ),
    "an answer to a template": ({"templateButtonReplyMessage": {"selectedDisplayText": "Later"}}, "Later"),
    "an interactive message": (
        {"interactiveMessage": {"header": {"title": "H"}, "body": {"text": "B"}, "footer": {"text": "F"}}},
        "H\nB\nF",
    ),
    "an interactive message of cards": (
        {
            "interactiveMessage": {
                "carouselMessage": {"cards": [{"body": {"text": "1"}}, {"body": {"text": "2"}}]}
            }
        },
        "1\n2",
    ),
    "an interactive message with buttons": (
        {
            "interactiveMessage": {
                "body": {"text": "Pizza?"},
                "nativeFlowMessage": {
                    "buttons": [
                        {"name": "quick_reply", "buttonParamsJSON": '{"display_text": " Yes ", "id": "1"}'},
                        {"name": "quick_reply", "buttonParamsJSON": '{"display_text": "No\\ud800"}'},
                        {"name": "cta_url", "buttonParamsJSON": "[1]"},
                        {"name": "cta_url", "buttonParamsJSON": "{"},
                        {"name": "cta_url", "buttonParamsJSON": '{"display_text": 7}'},
                        {"name": "cta_url", "buttonParamsJSON": '{"display_text":"' + "x" * 10_000 + '"}'},
                        {"name": "cta_call", "buttonParamsJSON": "[" * 9_000},
                    ]
                },
            }
        },
        "Pizza?\n- Yes\n- No?",
    ),
    "an answer to an interactive message": ({"interactiveResponseMessage": {"body": {"text": "Two"}}}, "Two"),
    "an answer by form": (
        {"interactiveResponseMessage": {"nativeFlowResponseMessage": {"name": "address_message"}}},
        "address_message",
    ),
    "an old template": (
        {"highlyStructuredMessage": {"elementName": "hello", "params": ["a", "b"]}},
        "hello\na\nb",
    ),
    "an old template, filled in": (
        {"highlyStructuredMessage": {"hydratedHsm": {"hydratedTemplate": {"hydratedContentText": "Hi"}}}},
        "Hi",
    ),
    "a product": (
        {
            "productMessage": {
                "product": {"title": "Tea", "priceAmount1000": 12500, "currencyCode": "EUR"},
                "body": "hot",
            }
        },
        "[Product: Tea, 12.50 EUR]\nhot",
    ),
    "an order": (
        {
            "orderMessage": {
                "itemCount": 3,
                "orderTitle": "Shop",
                "totalAmount1000": 1000,
                "totalCurrencyCode": "USD",
            }
        },
        "[Order: Shop, 3 items, 1.00 USD]",
    ),
    "an invoice": ({"invoiceMessage": {"note": "May"}}, "[Invoice: May]"),
    "an invitation to payments": ({"paymentInviteMessage": {}}, "[Invitation to payments]"),
    "a wish for money": (
        {
            "requestPaymentMessage": {
                "amount1000": 5000,
                "currencyCodeIso4217": "INR",
                "noteMessage": {"conversation": "rent"},
            }
        },
        "[Asks for a payment: 5.00 INR]\nrent",
    ),
    "money": (
        {"sendPaymentMessage": {"noteMessage": {"extendedTextMessage": {"text": "ta"}}}},
        "[Payment]\nta",
    ),
    "money without a note": ({"sendPaymentMessage": {}}, "[Payment]"),
}


@pytest.mark.parametrize(("message", "text"), SAID.values(), ids=SAID)
def test_an_offer_or_an_answer_is_read_and_may_wake(message: dict[str, Any], text: str) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, False)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            {"templateMessage": {"hydratedTemplate": {"maskLinkedDevices": True}}},
            "[A message that cannot be read: only the phone can show it]",
        ),
        (
            {"interactiveMessage": {"nativeFlowMessage": {"buttons": [{"name": "review_and_pay"}]}}},
            "[Form of a business: review_and_pay]",
        ),
        ({"interactiveMessage": {"collectionMessage": {"ID": "1"}}}, "[Form of a business]"),
    ],
    ids=["a code for the phone alone", "a form without words", "a catalogue without words"],
)
def test_what_only_phones_show_is_told_and_wakes_nobody(message: dict[str, Any], text: str) -> None:
    inbound = heard(message)

    assert (inbound.text, inbound.is_context_only) == (text, True)
