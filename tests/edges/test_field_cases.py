"""Each fault that was reported of systems like this one is absent, and a test named after it says so.

A test holds a case when its name begins with the case's id: `test_a6_…`, `test_d_8_…` for D-8; with
several, one after another. Cases of later parts are listed with the part that brings them.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parent.parent
_ID: Final = re.compile(r"(?:[a-l]\d+|d_(?:\d+|[b-g]))_")
_NUMBERS: Final[Mapping[str, Sequence[int | str]]] = {
    "A": (1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 19),
    "B": (1, 2, 4, 5, 7, 8, 11, 13),
    "C": (1, 2, 3),
    "D-": ("b", "c", "d", "e", "f", "g", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 19, 20),
    "E": (1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 14),
    "F": (1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15),
    "G": (1, 2, 3, 4, 5, 6, 8, 10, 13, 14, 15, 16, 17, 18),
    "J": (1, 5, 9, 12),
    "K": (1, 3, 4, 5, 6, 7),
}
HELD: Final = frozenset(f"{part}{number}" for part, numbers in _NUMBERS.items() for number in numbers)
LATER: Final = {
    "F14": "tasks with a script of their own come with the drivers that run one",
}


def ids_in(name: str) -> list[str]:
    """The cases that a test's name begins with."""
    found: list[str] = []
    rest = name.removeprefix("test_")
    while (match := _ID.match(rest)) is not None:
        found.append(match[0].strip("_").replace("_", "-").capitalize())
        rest = rest[match.end() :]
    return found


def names_of_tests() -> Iterator[str]:
    """All tests of this tree."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield node.name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_a6_three_messages", ["A6"]),
        ("test_a6_e14_three_messages", ["A6", "E14"]),
        ("test_d_8_a_link", ["D-8"]),
        ("test_d_b_a_file", ["D-b"]),
        ("test_a_message_of_d_8_files", []),
        ("test_d_day", []),
    ],
)
def test_a_tests_name_says_which_cases_it_holds(name: str, expected: list[str]) -> None:
    assert ids_in(name) == expected


def test_every_case_is_held_by_a_test_of_its_name() -> None:
    held = {case for name in names_of_tests() for case in ids_in(name)}

    assert sorted(HELD - held) == []


def test_no_case_is_both_held_and_put_off() -> None:
    held = {case for name in names_of_tests() for case in ids_in(name)}

    assert sorted(held & set(LATER)) == []
    assert HELD.isdisjoint(LATER)
