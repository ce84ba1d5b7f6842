"""Each fault that was reported of systems like this one, in our words, and the tests that are named after it.

A test holds a case when its name begins with the case's id: `test_a6_…`, `test_d_8_…` for D-8; with
several, one after another. `python -m tests.support.field_cases` writes `docs/field_cases.md`.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.support.field_case_words import CASES, NOT_BUILT, PARTLY

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "field_cases.md"
COMMAND: Final = "python -m tests.support.field_cases"
_ID: Final = re.compile(r"(?:[a-n]\d+|d_(?:\d+|[b-g]))_")
_HEAD: Final = f"""# Faults from the field, and the tests that keep them out

People who run systems of this kind have reported these faults. Each is kept out by the tests beside it, which
carry its id in their names, or it says what is not built, and why. A check fails for a fault without a test
and for a test of a fault that is not here. `{COMMAND}` writes this page.
"""


def ids_in(name: str) -> Sequence[str]:
    """The cases that a test's name begins with."""
    found: list[str] = []
    rest = name.removeprefix("test_")
    while (match := _ID.match(rest)) is not None:
        found.append(match[0].strip("_").replace("_", "-").capitalize())
        rest = rest[match.end() :]
    return found


def all_tests() -> Iterator[tuple[str, str]]:
    """Of all tests of this tree: path and name, in order."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield path.relative_to(ROOT).as_posix(), node.name


def held_cases() -> Mapping[str, Sequence[str]]:
    """Of each case that a test is named after: its tests."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, name in all_tests():
        for case in ids_in(name):
            found[case].append(f"{path}::{name}")
    return found


def page(held: Mapping[str, Sequence[str]]) -> str:
    """What `docs/field_cases.md` has to say."""
    parts = [_HEAD]
    for part, cases in CASES.items():
        rows = [f"| {case} | {wrong} | {_answer(case, held)} |" for case, wrong in cases.items()]
        parts.append(
            "\n".join([f"## {part}", "", "| id | what went wrong | held by |", "|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _answer(case: str, held: Mapping[str, Sequence[str]]) -> str:
    if case in NOT_BUILT:
        return f"not built: {NOT_BUILT[case]}"
    tests = ", ".join(f"`{test}`" for test in held.get(case, ()))
    return f"{tests}; not built: {PARTLY[case]}" if case in PARTLY else tests


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(held_cases()), encoding="utf-8")


if __name__ == "__main__":
    main()
