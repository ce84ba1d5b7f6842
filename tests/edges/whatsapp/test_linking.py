"""Linking an account from the first word to the chat in which operators are asked, over the real child."""

import fcntl
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.channel import ChildOptions, child_command
from orchestrator.channels.whatsapp.install_hint import install_command
from orchestrator.channels.whatsapp.linked_since import linked_since
from orchestrator.channels.whatsapp.process import ChildCommand
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.groups import at_desk
from orchestrator.cli.home import open_home
from orchestrator.cli.whatsapp_link import Dial, forget_session, link, unlink
from orchestrator.cli.whatsapp_settling import choose_main, settle
from orchestrator.contracts.errors import Conflict, InvalidRequest, NotFound, Unavailable
from orchestrator.contracts.records.groups import Group
from tests.support.file_channel import read_lines
from tests.support.whatsapp_far_end import link_by_hand

OURS = "4915100000000"
MINE = "4917099999999"
ACCOUNT = f"{OURS}:1@s.whatsapp.net"


def scripted(options: ChildOptions) -> ChildCommand:
    """The real child on a scripted client."""

    def words(descriptor: int, generation: int) -> Sequence[str]:
        found = [sys.executable, "-m", "tests.support.scripted_whatsapp"]
        found += ["--descriptor", str(descriptor), "--generation", str(generation)]
        found += ["--session", str(options.session), "--spool", str(options.spool)]
        return [*found, "--purpose", options.purpose]

    return words


DIAL = Dial(command=scripted, answer_within_s=120)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home, with a phone in the room that scans what is shown."""
    pytest.importorskip("magic", exc_type=ImportError)
    home = open_home(tmp_path)
    home.paths.ensure()
    (home.paths.store / "phone").write_text(OURS)
    return tmp_path


def store(home: Path) -> Path:
    """Where the session lies, which is where the scripted client is."""
    return open_home(home).paths.store


def main_group(home: Path) -> Group:
    """The chat in which operators are asked."""
    (found,) = [each for each in at_desk(open_home(home), lambda desk: desk.list_all()) if each.is_main]
    return found


def settings(home: Path) -> dict[str, object]:
    """What is set of the channel."""
    found: dict[str, object] = tomllib.loads((home / "dovecote.toml").read_text())["whatsapp"]
    return found


class Person:
    """Answers what is asked."""

    def __init__(self, *answers: str) -> None:
        self._answers: Iterator[str] = iter(answers)
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return next(self._answers, "")


def test_a_scanned_code_links_the_account_and_switches_the_channel_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link(home, None, ask=None, dial=DIAL)

    said = capsys.readouterr().out
    assert "Scan this; a new one follows every 20 s." in said
    assert f"Linked: +{OURS}." in said
    assert "Start Dovecote: dovecote serve, or dovecote chat" in said
    assert "dovecote whatsapp main +49…" in said
    assert settings(home) == {"enabled": True}
    assert linked_since(store(home) / "whatsapp.db") is not None


def test_a_number_gives_a_code_for_the_phone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (store(home) / "phone").rename(store(home) / "typing_phone")

    link(home, "+49 (151) 000-00000", ask=None, dial=DIAL)

    assert "Code: ABCD-EFGH" in capsys.readouterr().out
    assert read_lines(store(home) / "pairings.jsonl") == [{"phone": OURS}]


def test_where_the_library_is_missing_the_command_that_installs_it_is_a_line_of_its_own(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "none" / "neonize").mkdir(parents=True)
    (tmp_path / "none/neonize/__init__.py").write_text("raise ImportError('no neonize here')")

    def without_library(options: ChildOptions) -> ChildCommand:
        child = child_command(options)
        return lambda *who: ["env", f"PYTHONPATH={tmp_path / 'none'}:{os.getcwd()}", *child(*who)]

    with pytest.raises(Unavailable) as refused:
        link(home, None, ask=None, dial=Dial(command=without_library, answer_within_s=120))

    assert refused.value.message == "WhatsApp: neonize cannot be loaded: no neonize here."
    assert refused.value.suggestion == f"Install it: {install_command()}"


def test_with_a_spare_number_operators_are_asked_in_the_chat_with_their_own(home: Path) -> None:
    person = Person("n", "my phone", f"+{MINE}")

    settle(open_home(home), ACCOUNT, ask=person)

    assert (main_group(home).jid, main_group(home).folder) == (f"{MINE}@s.whatsapp.net", "operator")
    assert settings(home) == {"enabled": True}
    assert len(person.asked) == 3


def test_with_their_own_number_operators_are_asked_in_its_chat_with_itself(home: Path) -> None:
    settle(open_home(home), ACCOUNT, ask=Person("Yes"))

    assert (main_group(home).jid, main_group(home).folder) == (f"{OURS}@s.whatsapp.net", "own")
    assert settings(home) == {"enabled": True, "has_owner": True}


def test_who_wants_neither_is_asked_in_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settle(open_home(home), ACCOUNT, ask=Person("", ""))

    assert at_desk(open_home(home), lambda desk: desk.list_all()) == []
    assert "is asked in the terminal's chat" in capsys.readouterr().out


def test_a_settings_file_in_a_way_of_its_own_is_left_and_its_owner_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "dovecote.toml").write_text("whatsapp = {enabled = false}\n")

    settle(open_home(home), ACCOUNT, ask=None)

    assert "Now set under [whatsapp] in" in capsys.readouterr().out
    assert (home / "dovecote.toml").read_text() == "whatsapp = {enabled = false}\n"


def test_an_environment_that_keeps_it_off_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVECOTE_WHATSAPP__ENABLED", "false")

    settle(open_home(home), ACCOUNT, ask=None)

    assert "WhatsApp stays off: environment DOVECOTE_WHATSAPP__ENABLED says so." in capsys.readouterr().err


def test_a_network_that_cannot_be_reached_leaves_no_session(home: Path) -> None:
    (store(home) / "unreachable").write_text("failed to dial: network is unreachable")

    with pytest.raises(Unavailable, match="no connection to WhatsApp: network is unreachable"):
        link(home, None, ask=None, dial=DIAL)

    assert not (store(home) / "whatsapp.db").exists()
    assert not (home / "dovecote.toml").exists()


def test_unlinking_logs_out_and_forgets_the_account(home: Path) -> None:
    session = store(home) / "whatsapp.db"
    link(home, None, ask=None, dial=DIAL)

    unlink(home, dial=DIAL)

    assert settings(home) == {"enabled": False}
    assert {"logout": True} in read_lines(store(home) / "pairings.jsonl")
    assert (linked_account(session), linked_since(session)) == (None, None)


def test_an_account_that_is_in_use_is_neither_unlinked_nor_forgotten(home: Path) -> None:
    paths = open_home(home).paths
    link_by_hand(paths.whatsapp_session, OURS)
    paths.whatsapp_spool.mkdir()
    held = os.open(paths.whatsapp_spool, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_EX)  # as a child of the orchestrator does for its life

    for take_away in (unlink, forget_session):
        with pytest.raises(Conflict, match="The account is in use"):
            take_away(home)
    os.close(held)

    assert linked_account(paths.whatsapp_session) is not None


def test_a_session_that_cannot_be_read_can_be_forgotten_and_none_at_all_can_not(home: Path) -> None:
    session = store(home) / "whatsapp.db"
    with pytest.raises(NotFound, match="There is no session to remove"):
        forget_session(home)
    session.write_bytes(b"not a database")

    forget_session(home)

    assert not session.exists()


def test_the_main_chat_can_be_chosen_later_and_back_again(home: Path) -> None:
    link_by_hand(store(home) / "whatsapp.db", OURS)
    chosen = []

    for phone in (f"00{MINE}", None, f"+{MINE}"):
        choose_main(home, phone)
        chosen.append(main_group(home).jid)

    jids = [f"{each}@s.whatsapp.net" for each in (MINE, OURS, MINE)]
    assert json.dumps(chosen) == json.dumps(jids)


def test_no_number_and_no_account_are_no_main_chat(home: Path) -> None:
    with pytest.raises(InvalidRequest, match="is not a phone number"):
        choose_main(home, "0170 1234567")
    with pytest.raises(NotFound, match="No WhatsApp account is linked"):
        choose_main(home, None)
