"""TOML of people: read, or refused with one kind of error."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.toml_text import load_toml

PIECES = st.sampled_from(
    [*'[]{}="\n\r\\.#,_-+eETZ:', "a", "0x", "9" * 40, "true", "inf", "'''", "2026-01-01", "\x00", "\ufeff"]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "1" * 5_000, "a whole number is too large"),
        ("a = 0b" + "1" * 64, "a whole number is too large"),
        (f"a = [1, {{b = -{2**63 + 1}}}]", "a whole number is too large"),
        ("a = " + "[" * 5_000, "it is nested too deeply"),
        ("a = ", "Invalid value"),
    ],
)
def test_what_is_wrong_is_one_kind_of_error(text: str, said: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=said):
        load_toml(text)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0])
def test_what_the_format_allows_is_read(number: int) -> None:
    assert load_toml(f"\ufeff[a]\nb = {number}\n") == {"a": {"b": number}}


@given(st.lists(PIECES, max_size=60))
def test_no_text_is_another_kind_of_error(pieces: list[str]) -> None:
    try:
        load_toml("".join(pieces))
    except tomllib.TOMLDecodeError:
        return
