"""Each fault that was reported of systems like this one is absent, and a test named after it says so."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from tests.support.field_case_words import CASES, NOT_BUILT, PARTLY
from tests.support.field_cases import COMMAND, PAGE, held_cases, ids_in, page

IDS: Final = [case for cases in CASES.values() for case in cases]
HOW_MANY: Final = {"A": 13, "B": 8, "C": 3, "D": 21, "E": 11, "F": 13, "G": 14} | {
    "H": 12,
    "I": 7,
    "J": 9,
    "K": 6,
    "L": 4,
}


@pytest.fixture(scope="module")
def held() -> Mapping[str, Sequence[str]]:
    return held_cases()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_a6_three_messages", ["A6"]),
        ("test_a6_e14_three_messages", ["A6", "E14"]),
        ("test_d_8_a_link", ["D-8"]),
        ("test_d_b_a_file", ["D-b"]),
        ("test_l1_j13_helpers", ["L1", "J13"]),
        ("test_a_message_of_d_8_files", []),
        ("test_d_day", []),
    ],
)
def test_a_tests_name_says_which_cases_it_holds(name: str, expected: list[str]) -> None:
    assert ids_in(name) == expected


def test_the_list_of_cases_is_whole() -> None:
    assert len(set(IDS)) == len(IDS)
    assert Counter(case[0] for case in IDS) == HOW_MANY


def test_every_case_is_held_by_a_test_of_its_name_or_said_to_be_not_built(
    held: Mapping[str, Sequence[str]],
) -> None:
    assert [case for case in IDS if case not in held and case not in NOT_BUILT] == []
    assert sorted(held.keys() & NOT_BUILT.keys()) == []
    assert [case for case in PARTLY if case not in held] == []


def test_no_test_is_named_after_a_case_that_there_is_not(held: Mapping[str, Sequence[str]]) -> None:
    known = set(IDS)

    assert {case: tests for case, tests in held.items() if case not in known} == {}
    assert (NOT_BUILT.keys() | PARTLY.keys()) - known == set()


def test_what_went_wrong_is_said_in_six_to_twelve_words() -> None:
    lengths = {case: len(wrong.split()) for cases in CASES.values() for case, wrong in cases.items()}

    assert {case: length for case, length in lengths.items() if not 6 <= length <= 12} == {}


def test_the_page_is_the_one_that_the_tests_make(held: Mapping[str, Sequence[str]]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(held), f"run {COMMAND}"
