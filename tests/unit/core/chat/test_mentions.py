"""Ids in a text become names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import Mention
from orchestrator.core.chat.mentions import (
    numbers_called,
    people_named,
    with_ids,
    with_names,
    with_our_name,
)
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
def test_j4_our_own_account_is_called_by_the_assistants_name(text: str, expected: str) -> None:
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


ANNA, LENA, BERG = Jid("1111@lid"), Jid("2222@lid"), Jid("3333@lid")
PEOPLE = {ANNA: "Anna 🌸", LENA: "Lena Holm", BERG: "Lena Berg"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@Anna 🌸 look", "@1111 look"),
        ("@Anna, look", "@1111, look"),
        ("(@Anna)", "(@1111)"),
        ("@Anna @Anna", "@1111 @1111"),
        ("@Annabel is somebody else", "@Annabel is somebody else"),
        ("post@Anna.example", "post@Anna.example"),
        ("@Lena could be both", "@Lena could be both"),
        ("@Lena Holm and @Lena Berg", "@2222 and @3333"),
        ("@anna is not how she writes it", "@anna is not how she writes it"),
        ("Anna, look", "Anna, look"),
    ],
)
def test_a_text_of_ours_calls_people_by_their_ids(text: str, expected: str) -> None:
    assert with_ids(text, people_named(text, PEOPLE)) == expected


def test_who_is_called_by_two_names_is_the_same_person() -> None:
    called = people_named("@Lena Holm", {LENA: "Lena Holm"})

    assert {each.jid for each in called} == {LENA}


NAMES = st.text(st.sampled_from("ab @.\U0001f338(["), max_size=6)


@given(st.text(st.sampled_from("ab @.\U0001f338(["), max_size=30), st.dictionaries(st.integers(1, 9), NAMES))
def test_whatever_people_are_called_only_names_behind_an_at_change(text: str, names: dict[int, str]) -> None:
    people = {Jid(f"{number}{number}@lid"): name for number, name in names.items()}

    called = people_named(text, people)
    shown = with_ids(text, called)

    assert all(each.token in text and each.jid in people for each in called)
    assert (shown == text) == (called == ())
    assert "@" in text or called == ()
