"""`dovecote whatsapp groups` and `status` on a store, and what the doctor says of the channel."""

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.install_hint import REQUIREMENT, install_command
from orchestrator.cli.channel_checks import check_whatsapp
from orchestrator.cli.findings import Health, Patient
from orchestrator.cli.groups import at_desk
from orchestrator.cli.home import make_home, open_home
from orchestrator.cli.whatsapp import groups, status
from orchestrator.commands.groups.groups import NewGroup
from orchestrator.contracts.errors import NotFound
from orchestrator.contracts.ids import Jid
from tests.support.whatsapp_far_end import link_by_hand

KNOWN = "INSERT INTO chats (jid, channel, name, is_group, is_member) VALUES (?, 'whatsapp', ?, 1, ?)"
HEARD = "INSERT INTO chats (jid, channel, is_group, last_activity_ms) VALUES (?, 'whatsapp', ?, ?)"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that was used, with a group of the terminal."""
    make_home(open_home(tmp_path))
    new = NewGroup(jid=Jid("console:club"), folder="club", name="Club")
    at_desk(open_home(tmp_path), lambda desk: desk.add(new))
    return tmp_path


def put(home: Path, query: str, *rows: tuple[object, ...]) -> None:
    """Rows of the store."""
    with closing(sqlite3.connect(open_home(home).paths.database)) as opened, opened:
        opened.executemany(query, rows)


def registered(home: Path) -> dict[str, str]:
    """The chats of all groups, by folder."""
    return {each.folder: each.jid for each in at_desk(open_home(home), lambda desk: desk.list_all())}


@pytest.mark.parametrize("which", ["2", "chor", "1200@g.us"])
def test_a_group_is_registered_by_its_number_or_by_a_part_of_its_name(
    which: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(home, KNOWN, ("1200@g.us", "Der Chor", 1), ("1201@g.us", "Chess 2", 1))

    groups(home, which, "choir", as_json=False)

    said = "Der Chor is registered as choir; @Assistant calls the assistant there.\n"
    assert capsys.readouterr().out == said
    assert registered(home)["choir"] == "1200@g.us"


@pytest.mark.parametrize(
    ("which", "why"), [("che", "2 groups are meant, and one is"), ("golf", "No such group is known")]
)
def test_what_means_no_group_or_several_registers_none(which: str, why: str, home: Path) -> None:
    put(home, KNOWN, ("1200@g.us", "Cheese", 1), ("1201@g.us", "Chess", 1))

    with pytest.raises(NotFound, match=why):
        groups(home, which, "choir", as_json=False)

    assert list(registered(home)) == ["club"]


def test_groups_that_the_account_has_left_are_not_listed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(home, KNOWN, ("1200@g.us", "Choir", 1), ("1201@g.us", "Chess", 0), ("1202@g.us", "Golf", None))

    groups(home, None, None, as_json=True)

    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["Choir", "Golf"]


def test_g17_the_status_says_when_something_was_heard_last_in_groups_and_in_direct_chats(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case G17: nothing came from groups any more, and as direct chats went on nobody saw it."""
    put(home, KNOWN, ("1200@g.us", "Choir", 1))
    put(home, HEARD, ("49@s.whatsapp.net", 0, 1_790_000_000_000))

    status(home, as_json=False)
    status(home, as_json=True)

    shown, _, plain = capsys.readouterr().out.partition("{")
    found = json.loads(f"{{{plain}")
    assert "heard    in groups: never; in direct chats: 2026-09-21 14:13 UTC" in shown
    assert (found["last_in_groups"], found["last_in_direct"]) == (None, "2026-09-21T14:13:20+00:00")


def test_an_account_that_is_linked_but_off_is_a_doubt(home: Path) -> None:
    opened = open_home(home)
    link_by_hand(opened.paths.whatsapp_session, "4915100000000")

    finding = check_whatsapp(Patient(paths=opened.paths, settings=opened.settings, pid=None))

    assert (finding.health, finding.why) == (
        Health.WARNING,
        "An account is linked, but the channel is off.",
    )


def test_the_library_is_installed_from_the_hashed_list_of_a_clone_else_by_its_name(tmp_path: Path) -> None:
    plain = install_command(clone=tmp_path, python="python3")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "whatsapp.lock").touch()
    hashed = install_command(clone=tmp_path, python="python3")

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert plain == f"python3 -m pip install '{REQUIREMENT}'"
    assert hashed == f"python3 -m pip install --require-hashes -r {tmp_path}/requirements/whatsapp.lock"
    assert project["optional-dependencies"]["whatsapp"] == [REQUIREMENT]
