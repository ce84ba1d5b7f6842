"""`dovecote provider login`: off unless set, in the home of the group's agents, and no secret handed on."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.cli.conftest import Dovecote

LAB = """
[lab]
driver = "acp"
command = "lab --acp"
login = "lab-login --now"
environment = { LAB_HOME = "{home}/.lab" }
"""
PROGRAM = """#!/bin/sh
echo "logged in by $*"
env > "$HOME/login.txt"
exit 3
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """Where the users of agents, too, can pass through, if we are root."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        made = Path(directory, "home")
        made.mkdir(mode=0o755)
        yield made


def furnish(home: Path, more: str) -> dict[str, str]:
    """A provider whose program is in the path; the variables that find it."""
    (home / "providers.toml").write_text(LAB + more)
    programs = home.parent / "bin"
    programs.mkdir()
    (programs / "lab-login").write_text(PROGRAM)
    (programs / "lab-login").chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "OTHER_TOKEN": "sk-canary"}


def test_a_program_logs_in_inside_the_home_of_the_groups_agents(home: Path, dovecote: Dovecote) -> None:
    more = furnish(home, 'auth_mode = "native_cli"\n')
    dovecote("group", "add", "kitchen", "--jid", "console:kitchen")

    ended = dovecote("provider", "login", "lab", "--group", "kitchen", more=more)

    session = home / "data" / "sessions" / "kitchen" / "lab"
    seen = dict(line.partition("=")[::2] for line in (session / "login.txt").read_text().splitlines())
    assert (ended.returncode, ended.stdout) == (3, "logged in by --now\n"), ended.stderr
    assert f"{session} can be read by whatever runs in the containers of kitchen" in ended.stderr
    assert (seen["HOME"], seen["LAB_HOME"]) == (str(session), f"{session}/.lab")
    assert "sk-canary" not in seen.values()
    assert stat.S_IMODE(session.stat().st_mode) == 0o700
    assert (session / "login.txt").stat().st_uid == session.stat().st_uid


def test_where_it_is_not_set_nobody_logs_in_and_what_it_would_mean_is_said(
    home: Path, dovecote: Dovecote
) -> None:
    more = furnish(home, "")

    ended = dovecote("provider", "login", "lab", "--group", "kitchen", more=more)

    assert ended.returncode == 1
    assert 'providers.lab.auth_mode = "native_cli"' in ended.stderr
    assert "can then read that login" in ended.stderr
    assert not (home / "data").exists()


def test_a_program_that_is_not_there_is_named(home: Path, dovecote: Dovecote) -> None:
    (home / "providers.toml").write_text(LAB + 'auth_mode = "native_cli"\n')
    dovecote("group", "add", "kitchen", "--jid", "console:kitchen")

    ended = dovecote("provider", "login", "lab", "--group", "kitchen")

    assert ended.returncode == 1
    assert "The login lab-login is not on this machine." in ended.stderr
