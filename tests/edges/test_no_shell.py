"""Nothing of ours starts a program through a shell, so that no name is ever read as a command."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
OURS: Final = ("orchestrator", "container")
SHELLS: Final = frozenset({"create_subprocess_shell", "getoutput", "getstatusoutput"})
SHELLS_OF_OS: Final = frozenset({"system", "popen"})
WITH_A_SHELL: Final = frozenset({"sh", "bash", "dash"})
BY_PROTOCOL: Final = "container/drivers/acp_terminals.py"
"""Inside an agent's own walls its program may ask for a command line."""


def through_a_shell(source: str) -> list[int]:
    """The lines that hand words to a shell."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr | ast.keyword)]
    return sorted({node.lineno for node in nodes if _hands_over(node)})


def _hands_over(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in SHELLS:
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr=name)) if name in SHELLS_OF_OS:
            return True
        case ast.keyword(arg="shell", value=ast.Constant(value=False | None)):
            return False
        case ast.keyword(arg="shell"):
            return True
        case ast.List(elts=words) | ast.Tuple(elts=words):
            return _is_a_shell(words)
    return False


def _is_a_shell(words: list[ast.expr]) -> bool:
    match words:
        case [ast.Constant(value=str(program)), ast.Constant(value="-c" | "-lc"), *_]:
            return Path(program).name in WITH_A_SHELL
        case [_, ast.Constant(value="-c" | "-lc"), *_]:
            return True
    return False


def sources() -> Iterator[Path]:
    """All modules of the product."""
    for name in OURS:
        yield from (ROOT / name).rglob("*.py")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("os.system(f'docker stop {name}')", [1]),
        ("x\nsubprocess.run(words, shell=True)", [2]),
        ("subprocess.run(words, shell=wanted)", [1]),
        ("await asyncio.create_subprocess_shell(text)", [1]),
        ("run(['/bin/sh', '-c', text])", [1]),
        ("run([shell, '-c', text])", [1]),
        ("run(('python3', '-c', text), shell=False)", []),
        ("run(['docker', 'stop', name])", []),
        ("platform.system()", []),
    ],
)
def test_words_for_a_shell_are_found(source: str, lines: list[int]) -> None:
    assert through_a_shell(source) == lines


def test_h3_nothing_is_started_through_a_shell() -> None:
    """Case H3."""
    looked_at = list(sources())

    found = [
        str(path.relative_to(ROOT)) for path in looked_at if through_a_shell(path.read_text(encoding="utf-8"))
    ]

    assert len(looked_at) > 300
    assert found == [BY_PROTOCOL]
