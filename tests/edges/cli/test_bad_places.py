"""Homes and outputs that cannot be used: one clear sentence, one that fits the cause."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.edges.cli.conftest import Dovecote

COMMANDS = [["serve"], ["chat"], ["group", "add", "a", "--jid", "console:a"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_home_that_is_a_file_is_named_with_advice_that_fits(
    tmp_path: Path, dovecote: Dovecote, command: list[str]
) -> None:
    place = tmp_path / "file"
    place.write_text("")

    ended = dovecote(*command, "--home", str(place))

    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"Error: {place}/dovecote.toml cannot be read: Not a directory.",
        "Something on the way is a file, not a directory: name another home with --home.",
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_home_that_cannot_be_made_is_named_with_advice_that_fits(
    dovecote: Dovecote, command: list[str]
) -> None:
    ended = dovecote(*command, "--home", "/proc/nothing")

    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "Error: /proc/nothing/groups cannot be used: No such file or directory.",
        "A directory on the way is not there: make it, or name another home with --home.",
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_home_whose_path_is_too_long_for_the_database_is_said_so(
    tmp_path: Path, dovecote: Dovecote, command: list[str]
) -> None:
    home = tmp_path.joinpath(*["x" * 100] * 5)
    home.mkdir(parents=True)

    ended = dovecote(*command, "--home", str(home))
    doctor = dovecote("doctor", "--home", str(home))

    assert ended.returncode == 1
    assert "unable to open database file" in ended.stderr.splitlines()[-2]
    assert "name a home with a shorter one with --home." in ended.stderr.splitlines()[-1]
    assert doctor.returncode == 1
    assert "500 are possible" in doctor.stdout


def test_a_full_disk_behind_the_output_is_a_sentence(home: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "orchestrator", "config"],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )

    assert ended.returncode == 1
    assert ended.stderr == "Error: The output cannot be written: No space left on device.\n"


def test_a_sign_that_the_encoding_lacks_is_replaced(dovecote: Dovecote) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--name", "Gärtner 🌻")

    ended = dovecote("group", "list", more={"PYTHONIOENCODING": "ascii", "LANG": "C"})

    assert ended.returncode == 0, ended.stderr
    assert "G?rtner ?" in ended.stdout
