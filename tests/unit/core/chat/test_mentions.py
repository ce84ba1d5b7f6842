"""Ids in a text become names."""

import pytest

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import Mention
from orchestrator.core.chat.mentions import numbers_called, with_names, with_our_name
from tests.support.store_rows import inbound

US = Mention(token="@4919", jid=Jid("4919@s.whatsapp.net"), is_us=True)
BEN = Mention(token="@4917", jid=Jid("4917@s.whatsapp.net"))
CAT = Mention(token="@98", jid=Jid("98@lid"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@4919 hello", "@Andy hello"),
        ("hello @4919", "hello @Andy"),
        ("@4919, @4919!", "@Andy, @Andy!"),
        ("@49191 is another", "@49191 is another"),
        ("@4919\nhello", "@Andy\nhello"),
    ],
)
def test_our_own_account_is_called_by_the_assistants_name(text: str, expected: str) -> None:
    assert with_our_name(inbound(text=text, mentions=(US,)), "Andy").text == expected


def test_only_our_own_mention_becomes_our_name() -> None:
    message = inbound(text="@4917 hi", mentions=(BEN,))

    assert with_our_name(message, "Andy") == message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@4917 and @98", "@Ben and @98"),
        ("@4919 and @4917", "@4919 and @Ben"),
        (r"@4917 \1", r"@Ben \1"),
    ],
    ids=["one unknown", "ours is done before", "signs of expressions"],
)
def test_others_are_called_by_the_names_that_are_known(text: str, expected: str) -> None:
    message = inbound(text=text, mentions=(US, BEN, CAT))

    assert with_names(message, {BEN.jid: "Ben", US.jid: "Mallory"}).text == expected


def test_a_name_is_taken_as_it_is_written() -> None:
    assert with_names(inbound(text="@4917", mentions=(BEN,)), {BEN.jid: r"\g<0>$1"}).text == r"@\g<0>$1"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("@4915100000002 look", ["4915100000002"]),
        ("look, @4915100000002!", ["4915100000002"]),
        ("@4915100000002 @98765432109876 @4915100000002", ["4915100000002", "98765432109876"]),
        ("me@4915100000002", []),
        ("@4915100000002@s.whatsapp.net", []),
        ("@1234 is too short", []),
        ("@4915100000002nd", []),
        ("nobody", []),
    ],
)
def test_a_text_of_ours_calls_people_by_their_numbers(text: str, numbers: list[str]) -> None:
    assert numbers_called(text) == numbers
