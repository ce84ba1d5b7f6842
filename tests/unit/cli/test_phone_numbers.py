"""Phone numbers as people write them, and as address books copy them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.whatsapp_numbers import account_number, number_of
from orchestrator.contracts.errors import InvalidRequest


@pytest.mark.parametrize(
    "written",
    [
        "+491701234567",
        "491701234567",
        "00491701234567",
        "+49 170 1234567",
        "+49 (0)170 1234567",
        "+49 (170) 123-45-67",
        "+49/170/1234567",
        "+49.170.123.4567",
        "\u202a+49\u00a0170\u00a01234567\u202c",
        "+49\u2011170\u20131234567",
    ],
)
def test_a_number_is_read_however_it_is_written(written: str) -> None:
    assert number_of(written) == "491701234567"


@pytest.mark.parametrize(
    "written",
    [
        "",
        "+",
        "0170 1234567",
        "(0)170 1234567",
        "+49",
        "+4917012345678901",
        "49170123456x",
        "\u0664\u0669" * 5,
    ],
    ids=[
        "nothing",
        "a sign",
        "no country",
        "no country either",
        "too short",
        "too long",
        "a letter",
        "other",
    ],
)
def test_what_is_no_number_with_its_country_is_refused(written: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a phone number"):
        number_of(written)


@given(st.text(max_size=40))
def test_any_text_is_a_number_of_7_to_15_digits_or_refused(written: str) -> None:
    try:
        found = number_of(written)
    except InvalidRequest:
        return

    assert re.fullmatch("[1-9][0-9]{6,14}", found)


def test_an_account_is_shown_without_its_device() -> None:
    assert account_number("491701234567:3@s.whatsapp.net") == "491701234567"
