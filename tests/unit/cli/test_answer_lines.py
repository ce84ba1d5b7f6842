"""How an answer looks in a terminal: as Markdown, its lines as they were written."""

import io

from rich.console import Console

from orchestrator.cli.chat_terminal import in_lines


def shown(text: str) -> list[str]:
    screen = Console(file=io.StringIO(), width=80)
    screen.print(in_lines(text))
    assert isinstance(screen.file, io.StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_lines_of_a_paragraph_are_not_joined() -> None:
    text = "**helper 1** is at work: count\n`show tree` shows how it stands,\nand more."

    assert shown(text) == ["helper 1 is at work: count", "show tree shows how it stands,", "and more."]


def test_lists_stay_what_they_are() -> None:
    assert [line for line in shown("- one\n- two\n\nwell") if line] == [" • one", " • two", "well"]
