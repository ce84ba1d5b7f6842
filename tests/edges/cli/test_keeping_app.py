"""`dovecote backup`, `restore`, `forget` and `service` as people meet them."""

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.cli.backups import run_backup, run_restore
from orchestrator.cli.findings import Health, Patient
from orchestrator.cli.forgetting import WORDS, run_forget_group, run_forget_person
from orchestrator.cli.service import run_install
from orchestrator.cli.store_checks import check_store
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.forgetting import OF_AGENTS, OF_CHATS, OF_GROUP, OF_PERSON
from orchestrator.store.unfinished_restore import UnfinishedRestore, note_unfinished
from tests.edges.cli.conftest import Dovecote
from tests.support.store_template import lay_store


@pytest.fixture
def used(home: Path) -> Path:
    """A home with a store, and a group's folder."""
    (home / "data" / "store").mkdir(parents=True)
    lay_store(home / "data" / "store" / "dovecote.db")
    (home / "groups" / "family").mkdir(parents=True)
    (home / "groups" / "family" / "AGENT.md").write_text("Be kind.\n")
    return home


def test_a_home_is_copied_and_put_back_elsewhere(dovecote: Dovecote, used: Path, tmp_path: Path) -> None:
    made = dovecote("backup", str(tmp_path / "b.tar.gz"))
    back = dovecote("restore", str(tmp_path / "b.tar.gz"), "--to", str(tmp_path / "other"))

    assert (made.returncode, made.stderr) == (0, "")
    assert re.search(r": \d+ files, [\d.]+ kB, read back and whole\.", made.stdout)
    assert re.search(r" is as it was at \d{4}-\d\d-\d\d [\d:]{8} UTC: \d+ files\.", back.stdout)
    assert (back.returncode, back.stderr) == (0, "")
    assert (tmp_path / "other" / "groups" / "family" / "AGENT.md").read_text() == "Be kind.\n"


def test_a_start_after_a_restore_that_did_not_end_says_how_it_is_ended_and_makes_no_store(
    dovecote: Dovecote, used: Path
) -> None:
    store = used / "data" / "store"
    aside = used / "before-restore-20260301T120000Z" / "data" / "store"
    note = UnfinishedRestore(source="/mnt/b c.tar.gz", aside=aside.parents[1].name, absent=())
    note_unfinished(store, note)
    aside.mkdir(parents=True)
    (store / "dovecote.db").rename(aside / "dovecote.db")

    started = dovecote("serve")
    found = check_store(Patient(paths=Paths(home=used), settings=Settings(), pid=None))

    again = f"dovecote restore '/mnt/b c.tar.gz' --to {used}"
    assert started.returncode != 0
    assert again in started.stderr
    assert not (store / "dovecote.db").exists()
    assert (found.health, again in str(found.mend)) == (Health.FAILURE, True)


def test_a_service_that_is_not_there_needs_no_removing(dovecote: Dovecote, used: Path) -> None:
    removed = dovecote("service", "uninstall", more={"HOME": str(used)})

    assert (removed.returncode, removed.stderr) == (0, "")
    assert "nothing has to be done" in removed.stdout


def test_nobody_is_forgotten_where_nobody_can_be_asked(used: Path) -> None:
    with pytest.raises(InvalidRequest) as refused:
        run_forget_group(used, "family", is_sure=False, as_json=False)

    assert "--yes" in str(refused.value)
    assert (used / "groups" / "family").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [(("person", "nobody"), "is not the id of a person"), (("group", "a/b"), "can't be the folder")],
    ids=["a person", "a group"],
)
def test_what_nobody_can_be_called_is_refused_before_one_is_asked_to_be_sure(
    dovecote: Dovecote, used: Path, words: tuple[str, str], said: str
) -> None:
    refused = dovecote("forget", *words)

    assert refused.returncode == 1
    assert said in refused.stderr
    assert "--yes" not in refused.stderr


def test_what_is_forgotten_is_listed(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_forget_group(used, "family", is_sure=True, as_json=True)

    assert code == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(used / "groups" / "family")]
    assert not (used / "groups" / "family").exists()


def test_what_went_is_said_in_words_that_people_know(
    used: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(used / "data" / "store" / "dovecote.db")) as store:
        store.execute(
            "INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, sent_ms,"
            " received_ms, is_trigger, status)"
            " VALUES ('console:a', 'm', 'console:ann', 'Ann', 'member', 'x', 0, 0, 0, 'skipped')"
        )
        store.execute("INSERT INTO names (jid, name) VALUES ('console:ann', 'Ann')")
        store.commit()
    run_backup(used, tmp_path / "b.tar.gz", with_secrets=False, as_json=False)
    run_restore(tmp_path / "other", tmp_path / "b.tar.gz")
    run_restore(used, tmp_path / "b.tar.gz")
    capsys.readouterr()

    code = run_forget_person(used, "console:ann", is_sure=True, as_json=False)

    said = capsys.readouterr().out.splitlines()
    assert code == 0
    assert "removed  1 message" in said
    assert "removed  1 name" in said
    assert f"  {tmp_path / 'other'} (a home: forget it there too, with --home)" in said
    assert [line for line in said if "before-restore" in line and "(a home" not in line]


@pytest.mark.parametrize("words", [("person", "49170@s.whatsapp.net"), ("group", "nobody")])
def test_who_asks_to_forget_what_nobody_knows_is_told_so_and_not_asked(
    dovecote: Dovecote, used: Path, words: tuple[str, str]
) -> None:
    ended = dovecote("forget", *words)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("Nothing is kept of ")
    assert words[1] in ended.stdout.splitlines()[0]


def test_every_row_that_goes_has_words_of_people_or_is_bookkeeping() -> None:
    tables = (OF_AGENTS, OF_GROUP, OF_CHATS, OF_PERSON)
    unnamed = {what for statements in tables for what in statements} - WORDS.keys()

    assert unnamed == {"waits", "tokens", "turns", "trees", "registrations", "cursors", "incidents"}


def test_a_unit_that_systemd_takes_is_shown_without_installing_it(
    used: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_install(used, of_system=True, only_print=True)

    shown = capsys.readouterr().out
    assert f"WorkingDirectory={used}" in shown.splitlines()
    unit = tmp_path / "dovecote.service"
    unit.write_text(shown)
    if shutil.which("systemd-analyze") is not None:
        argv = ["systemd-analyze", "verify", "--man=no", str(unit)]
        verified = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert [line for line in verified.stderr.splitlines() if unit.name in line] == []
