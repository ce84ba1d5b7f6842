"""The list of attacks names tests that exist, and leaves out none that is named after an attack."""

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
LIST: Final = ROOT / "docs" / "attacks.md"
NAMED: Final = re.compile(
    r"^\| (?P<attack>[^|]+) \| [^|]+ \| `(?P<path>tests/[^:`]+)::(?P<test>test_\w+)` \|$"
)


def rows() -> list[re.Match[str]]:
    """The rows of all its tables, but for their heads."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    cells = [line for line in lines if line.startswith("| ") and not line.startswith("| attack |")]
    found = [NAMED.match(line) for line in cells]
    assert None not in found, cells[found.index(None)]
    return [each for each in found if each is not None]


def names_of_tests(path: Path) -> set[str]:
    """The names of the tests that a file holds."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name for node in ast.walk(tree) if isinstance(node, functions) and node.name.startswith("test_")
    }


def test_each_attack_of_the_list_is_tried_by_a_test_that_exists() -> None:
    missing = [
        f"{row['path']}::{row['test']}"
        for row in rows()
        if not (ROOT / row["path"]).is_file() or row["test"] not in names_of_tests(ROOT / row["path"])
    ]

    assert missing == []


def test_each_test_that_is_named_after_an_attack_is_in_the_list() -> None:
    listed = {row["test"] for row in rows()}

    named = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in names_of_tests(path)
        if name.startswith("test_attack_")
    }

    assert named - listed == set()


def test_there_are_sixty_attacks_at_least_and_no_two_are_the_same() -> None:
    attacks = [row["attack"] for row in rows()]

    assert len(set(attacks)) == len(attacks)
    assert len(attacks) >= 60
