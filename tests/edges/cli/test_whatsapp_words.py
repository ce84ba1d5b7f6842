"""`dovecote whatsapp` as people meet it, as far as a machine without WhatsApp goes."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.install_hint import install_command
from tests.edges.cli.conftest import Dovecote
from tests.support.whatsapp_far_end import FarEnd
from tests.support.without_network import without_network


@pytest.fixture
def offline(home: Path, environment: dict[str, str]) -> Dovecote:
    """Runs the command where no network is."""
    pytest.importorskip("magic", exc_type=ImportError)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = without_network([sys.executable, "-m", "orchestrator", *arguments])
        paths = {"PYTHONPATH": str(Path(__file__).parents[3])}
        return subprocess.run(
            words,
            cwd=home,
            env={**environment, **paths},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def link_by_hand(home: Path) -> None:
    """As if an account had been linked."""
    (home / "data" / "store").mkdir(parents=True)
    far = FarEnd(home / "far")
    far.link()
    far.session.rename(home / "data" / "store" / "whatsapp.db")


@pytest.mark.parametrize("how", [(), ("--phone", "+49 170 1234567")])
def test_linking_without_a_network_says_so_and_leaves_nothing(
    how: tuple[str, ...], home: Path, offline: Dovecote
) -> None:
    done = offline("whatsapp", "link", *how)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith("Error: WhatsApp: no connection to WhatsApp: ")
    assert done.stderr.splitlines()[1:] == ["Is this machine on the Internet? Then try again."]
    assert list((home / "data" / "store").iterdir()) == []


@pytest.mark.parametrize("phone", ["12", "my phone", "+49 170 x", "1" * 16])
def test_what_is_no_phone_number_is_refused_before_anything_is_done(
    phone: str, home: Path, dovecote: Dovecote
) -> None:
    done = dovecote("whatsapp", "link", "--phone", phone)

    assert done.returncode == 1
    assert "is not a phone number." in done.stderr
    assert list(home.iterdir()) == []


def test_a_home_without_an_account_says_how_to_link_one(home: Path, dovecote: Dovecote) -> None:
    status, unlinked = dovecote("whatsapp", "status"), dovecote("whatsapp", "unlink")

    assert status.returncode == 0
    assert "none; link one with `dovecote whatsapp link`" in status.stdout
    assert (unlinked.returncode, unlinked.stderr.splitlines()[0]) == (
        1,
        "Error: No WhatsApp account is linked.",
    )
    assert list(home.iterdir()) == []


def test_an_account_that_is_linked_is_shown_and_not_linked_over(home: Path, dovecote: Dovecote) -> None:
    link_by_hand(home)

    status = dovecote("whatsapp", "status", "--json")
    again = dovecote("whatsapp", "link")

    assert json.loads(status.stdout)["account"] == "4915100000000"
    assert again.returncode == 1
    assert "The account +4915100000000 is linked already." in again.stderr


def test_unlinking_without_a_network_keeps_the_session_unless_it_is_to_be_forgotten(
    home: Path, offline: Dovecote, dovecote: Dovecote
) -> None:
    link_by_hand(home)
    session = home / "data" / "store" / "whatsapp.db"

    refused = offline("whatsapp", "unlink")
    is_kept = session.exists()
    forgotten = dovecote("whatsapp", "unlink", "--forget")

    assert (refused.returncode, is_kept) == (1, True)
    assert "dovecote whatsapp unlink --forget" in refused.stderr
    assert forgotten.returncode == 0
    assert not session.exists()


def test_the_groups_that_are_known_are_listed_and_found_by_a_part_of_their_name(
    home: Path, dovecote: Dovecote
) -> None:
    dovecote("group", "add", "choir", "--jid", "1203@g.us")
    with closing(sqlite3.connect(home / "data" / "store" / "dovecote.db")) as opened, opened:
        rows = [("1203@g.us", "The Choir"), ("1204@g.us", "Chess")]
        opened.executemany(
            "INSERT INTO chats (jid, channel, name, is_group) VALUES (?, 'whatsapp', ?, 1)", rows
        )

    everything = json.loads(dovecote("whatsapp", "groups", "--json").stdout)
    found = dovecote("whatsapp", "groups", "chess").stdout.splitlines()

    assert everything == [
        {"jid": "1203@g.us", "name": "The Choir", "folder": "choir"},
        {"jid": "1204@g.us", "name": "Chess", "folder": None},
    ]
    assert [line.split() for line in found[:2]] == [
        ["NO", "NAME", "CHAT", "FOLDER"],
        ["2", "Chess", "1204@g.us", "-"],
    ]


def test_the_doctor_names_what_is_missing_once_it_is_switched_on(dovecote: Dovecote) -> None:
    switched_on = {"DOVECOTE_WHATSAPP__ENABLED": "true", "DOVECOTE_AGENT__RUNNER": "process"}

    findings = json.loads(dovecote("doctor", "--json", more=switched_on).stdout)

    (finding,) = [each for each in findings if each["what"] == "whatsapp"]
    assert finding["health"] == "failure"
    assert finding["mend"] in (
        "dovecote whatsapp link",
        "apt install libmagic1",
        install_command(),
    )
