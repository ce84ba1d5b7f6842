"""`dovecote secret` and `dovecote usage` as people meet them."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.edges.cli.conftest import Dovecote

NAME = "providers/claude/api_key"
VALUE = "sk-canary-1"


def test_a_piped_secret_is_kept_listed_by_name_only_and_removed(home: Path, dovecote: Dovecote) -> None:
    done = dovecote("secret", "set", NAME, stdin=f"{VALUE}\n")
    listed = dovecote("secret", "list")
    as_json = dovecote("secret", "list", "--json")
    removed = dovecote("secret", "remove", NAME)
    empty = dovecote("secret", "list")

    file = home / "data" / "store" / "secrets" / f"{NAME}.secret"
    assert (done.returncode, done.stdout) == (0, f"{NAME} is set, in {home / 'data/store/secrets'}.\n")
    assert done.stderr == ""
    assert listed.stdout.splitlines()[1].split()[0] == NAME
    (row,) = json.loads(as_json.stdout)
    assert (row["name"], row["keptIn"], sorted(row)) == (NAME, "file", ["keptIn", "name", "setAt"])
    assert (removed.returncode, empty.stdout, file.exists()) == (0, "No secrets are set.\n", False)
    assert not any(VALUE in each.stdout + each.stderr for each in (done, listed, as_json, removed, empty))


def test_a_secret_typed_in_a_terminal_is_not_shown(home: Path, environment: dict[str, str]) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "secret", "set", NAME],
        cwd=home,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    while not shown.endswith(b"api_key: "):
        shown += os.read(master, 1024)
    os.write(master, f"{VALUE}\n".encode())
    while b"is set" not in shown:
        shown += os.read(master, 1024)
    process.wait(timeout=30)
    os.close(master)

    assert VALUE.encode() not in shown
    assert (home / "data" / "store" / "secrets" / f"{NAME}.secret").read_text() == VALUE


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["set", "api_key"], VALUE, "'api_key' is no name of a secret."),
        (["set", NAME], "", "The secret is empty."),
        (["set", NAME], f"{VALUE}\n{VALUE}", "The secret holds a line break"),
        (["remove", NAME], "", f"There is no secret {NAME}."),
    ],
)
def test_what_cannot_be_done_is_said_without_the_secret(
    words: list[str], stdin: str, said: str, dovecote: Dovecote
) -> None:
    ended = dovecote("secret", *words, stdin=stdin)

    assert ended.returncode == 1
    assert said in ended.stderr
    assert VALUE not in ended.stdout + ended.stderr


def test_a_secret_is_no_argument(dovecote: Dovecote) -> None:
    assert dovecote("secret", "set", NAME, VALUE).returncode == 2


def test_a_name_that_no_provider_asks_for_is_kept_with_a_warning(dovecote: Dovecote) -> None:
    ended = dovecote("secret", "set", "providers/cluade/api_key", stdin=VALUE)

    assert ended.returncode == 0
    assert "nothing in this home asks for providers/cluade/api_key" in ended.stderr


def test_an_unused_home_has_used_nothing_and_stays_unused(home: Path, dovecote: Dovecote) -> None:
    shown, as_json = dovecote("usage"), dovecote("usage", "--turns", "--json")

    assert (shown.stdout, as_json.stdout) == ("Nothing was used.\n", "[]\n")
    assert list(home.iterdir()) == []
