"""Folders named after chats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import is_folder_name
from orchestrator.core.chat.folder_names import folder_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("The Choir", "the-choir"),
        ("Familie Müller 🎉", "familie-mueller"),
        ("  Café  ", "cafe"),
        ("家族", "group"),
        ("", "group"),
        ("../../etc", "etc"),
        ("global", "group"),
        ("errors", "group"),
        ("x" * 100, "x" * 40),
    ],
)
def test_a_folder_is_called_as_its_chat_is(name: str, expected: str) -> None:
    assert folder_name(name, taken=()) == expected


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert folder_name("Choir", taken={"choir", "choir-2"}) == "choir-3"


@given(name=st.text(max_size=80), taken=st.sets(st.sampled_from(["group", "group-2", "a"])))
def test_any_name_gives_a_folder_that_may_be_and_is_free(name: str, taken: set[str]) -> None:
    found = folder_name(name, taken=taken)

    assert is_folder_name(found)
    assert found not in taken
