"""What people are advised to type can be copied from the line as it stands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import orchestrator

_TOP = Path(orchestrator.__file__).parent
_README = _TOP.parent / "README.md"


def strings_of(source: Path) -> Iterator[tuple[int, str]]:
    """Each text in a module with its line; of one with facts in it, what stands behind the last."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_full_stop_spoils_a_command_that_ends_an_advice() -> None:
    commands = re.findall(r"^\| `(dovecote [a-z -]+)` \|", _README.read_text(encoding="utf-8"), re.MULTILINE)
    spoilt = re.compile(rf"(?<!`)\b(?:{'|'.join(commands)})\.$")
    docstring = re.compile(r"\A[A-Z`].*\n")

    found = [
        f"{path.relative_to(_TOP)}:{line}: {text}"
        for path in sorted(_TOP.rglob("*.py"))
        for line, text in strings_of(path)
        if spoilt.search(text) and not docstring.match(text)
    ]

    assert len(commands) > 40
    assert found == []
