"""The first chat in a home that was put back from a backup."""

from pathlib import Path

from tests.edges.cli.conftest import Dovecote


def test_it_shows_answers_and_the_line_about_the_runner_and_nothing_else(
    dovecote: Dovecote, tmp_path: Path
) -> None:
    backup, other = tmp_path / "whole.backup", tmp_path / "other"
    dovecote("chat", stdin="remember milk\n")
    dovecote("backup", str(backup))
    dovecote("restore", str(backup), "--to", str(other))

    first = dovecote("chat", "--home", str(other), stdin="recall\n")

    assert (first.returncode, "milk" in first.stdout) == (0, True)
    assert "{" not in first.stdout
    assert first.stderr.splitlines() == [
        "Agents run without walls: only those that run no commands of a model may."
    ]
