"""The list of what seed 000 promises lacks no row, code, event or known fault, and names tests that exist."""

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final, get_args

import pytest

from orchestrator.contracts.events import AuditEvent
from tests.agreement.spawn_faces.test_seed_shapes import STATUSES
from tests.edges.docs.test_attack_list import ROOT, names_of_tests

LIST: Final = ROOT / "docs" / "spawn_rows.md"
ROW: Final = re.compile(
    r"^\| `?(?P<name>[A-Z]+\d+|[A-Z_]+|[a-z]+\.[a-z_]+)`? \| [^|]+ \| (?P<tests>[^|]+) \|$"
)
TEST: Final = re.compile(r"`(tests/[^:`]+)::(test_\w+)`")


def rows() -> Mapping[str, list[tuple[str, str]]]:
    """Of each row of its tables, file and name of the tests that hold it."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [match for line in lines if (match := ROW.match(line)) is not None]
    names = [match["name"] for match in found]
    assert len(set(names)) == len(names)
    assert len(found) == sum(line.startswith("| ") for line in lines) - 4  # the heads of the tables
    return {match["name"]: TEST.findall(match["tests"]) for match in found}


@pytest.mark.parametrize(
    "wanted",
    [
        {f"P{number}" for number in range(1, 25)},
        {f"FP{number}" for number in range(1, 22)},
        {code for codes in STATUSES.values() for code in codes},
        {str(each.default) for kind in get_args(AuditEvent) for each in fields(kind) if each.name == "type"},
    ],
    ids=["rows", "faults", "error codes", "events for the audit"],
)
def test_nothing_of_the_source_document_is_left_out(wanted: set[str]) -> None:
    assert wanted - rows().keys() == set()


def test_the_list_has_nothing_else() -> None:
    assert len(rows()) == 24 + 21 + 17 + 12


def test_each_row_is_held_by_tests_that_exist() -> None:
    held = rows()
    known = {
        path: names_of_tests(ROOT / path) for tests in held.values() for path, _ in tests if is_there(path)
    }

    assert [name for name, tests in held.items() if not tests] == []
    missing = {f"{path}::{test}" for tests in held.values() for path, test in tests} - {
        f"{path}::{test}" for path, tests in known.items() for test in tests
    }
    assert missing == set()


def is_there(path: str) -> bool:
    """Whether that file of tests exists."""
    return Path(ROOT, path).is_file()
