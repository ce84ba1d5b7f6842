"""The rows that hold what WhatsApp handed over, and the files beside the session."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.linked_since import forget_linked, heard_from, linked_since, note_linked
from orchestrator.channels.whatsapp.session import linked_account, linked_ids
from orchestrator.channels.whatsapp.spool import SpoolRows
from tests.support.whatsapp_far_end import FarEnd

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_rows_come_back_in_the_order_they_came(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path / "spool")

    names = [rows.add(f"{number}".encode()) for number in range(12)]

    assert rows.names() == names
    assert [rows.read(name) for name in rows.names()] == [f"{number}".encode() for number in range(12)]


def test_a_new_life_numbers_on_from_what_is_left_even_in_quarantine(tmp_path: Path) -> None:
    """Else a late confirmation of the old row would take the new one away."""
    first = SpoolRows(tmp_path)
    left, bad = first.add(b"left"), first.add(b"bad")
    first.quarantine(bad)

    name = SpoolRows(tmp_path).add(b"new")

    assert name > bad > left
    assert SpoolRows(tmp_path).names() == [left, name]


def test_what_was_written_when_the_process_died_is_a_row_and_what_was_only_begun_is_none(
    tmp_path: Path,
) -> None:
    """The disk may take long to confirm; what a crash of the library meets then is there all the same."""
    whole = SpoolRows(tmp_path).add(b"whole")
    written = (tmp_path / whole).read_bytes()
    for number, raw in ((2, written), (3, written[:-1]), (4, b""), (5, b"hal")):
        (tmp_path / f".{number:016d}.row.tmp").write_bytes(raw)

    rows = SpoolRows(tmp_path)

    assert [rows.read(name) for name in rows.names()] == [b"whole", b"whole"]
    assert not list(tmp_path.glob(".*"))
    assert rows.add(b"next") == "0000000000000003.row"


def test_a_row_that_the_disk_gives_back_changed_is_not_believed(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path)
    name = rows.add(b"whole")
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-1] + b"x")

    with pytest.raises(ValueError, match="not whole"):
        rows.read(name)


def test_only_the_newest_of_what_cannot_be_read_is_kept(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path)

    for number in range(205):
        rows.quarantine(rows.add(f"{number}".encode()))

    kept = sorted((tmp_path / "bad").iterdir())
    assert (len(kept), kept[0].read_bytes()[4:]) == (200, b"5")


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "", "0000000000000001.row/x", "bad"])
def test_what_is_no_rows_name_removes_nothing(name: str, tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path / "spool")
    (tmp_path / "outside").write_text("here")

    rows.remove(name)

    assert (tmp_path / "outside").exists()
    assert (tmp_path / "spool" / "bad").exists()


def test_a_row_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path / "spool")
    (tmp_path / "spool").rename(tmp_path / "away")

    with pytest.raises(OSError, match="No such file"):
        rows.add(b"x")

    assert sorted(path.name for path in (tmp_path / "away").iterdir()) == ["bad", "files"]


def test_what_somebody_else_put_into_the_spool_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "files" / "letters").mkdir(parents=True)
    (tmp_path / "0000000000000007.row").mkdir()
    (tmp_path / ".0000000000000003.row.tmp").mkdir()
    os.mkfifo(tmp_path / "0000000000000008.row")
    (tmp_path / "0000000000000009.row").symlink_to("/etc/passwd")
    (tmp_path / "9999999999999999.row").write_bytes(b"the last number")
    (tmp_path / "notes.txt").write_text("mine")

    rows = SpoolRows(tmp_path)
    name = rows.add(b"x")

    assert rows.names() == [name]
    assert rows.read(name) == b"x"
    assert SpoolRows(tmp_path).names() == [name]


def test_a_file_lies_beside_its_row_until_that_ends(tmp_path: Path) -> None:
    rows = SpoolRows(tmp_path)
    first, second = rows.add(b"x"), rows.add(b"y")
    path = rows.keep_file(first, b"photo")
    again = SpoolRows(tmp_path)
    before = path.read_bytes()

    again.remove(first)

    assert before == b"photo"
    assert not path.exists()
    with pytest.raises(OSError, match="No such file"):
        again.keep_file(first, b"photo")
    assert list((tmp_path / "files").iterdir()) == []
    assert again.names() == [second]


def test_an_account_is_known_from_its_session_without_the_library(tmp_path: Path) -> None:
    far = FarEnd(tmp_path)
    before = (linked_account(far.session), linked_ids(far.session))
    far.link(device=7)

    assert before == (None, ())
    assert linked_account(far.session) == "4915100000000:7@s.whatsapp.net"
    assert linked_ids(far.session) == ("4915100000000@s.whatsapp.net", "9000@lid")


@pytest.mark.parametrize("raw", [b"", b"no database", os.urandom(5000)])
def test_a_session_that_cannot_be_read_counts_as_none(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "whatsapp.db").write_bytes(raw)

    assert linked_account(tmp_path / "whatsapp.db") is None


def test_a_session_that_was_never_paired_counts_as_none(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "whatsapp.db")) as opened, opened:
        opened.execute("CREATE TABLE whatsmeow_device (jid TEXT PRIMARY KEY, lid TEXT)")

    assert linked_account(tmp_path / "whatsapp.db") is None


def test_what_was_sent_before_the_link_or_too_long_ago_is_not_heard(tmp_path: Path) -> None:
    session = tmp_path / "whatsapp.db"
    unknown = heard_from(session, now=NOW, max_age=DAY)
    note_linked(session, NOW - timedelta(hours=1))
    fresh = heard_from(session, now=NOW, max_age=DAY)
    note_linked(session, NOW - 30 * DAY)
    old = heard_from(session, now=NOW, max_age=DAY)

    assert (unknown, fresh, old) == (NOW - DAY, NOW - timedelta(hours=1), NOW - DAY)


def test_a_link_time_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    session = tmp_path / "whatsapp.db"
    session.with_suffix(".linked").write_text("yesterday")
    unreadable = linked_since(session)
    forget_linked(session)
    forget_linked(session)

    assert unreadable is None
    assert list(tmp_path.iterdir()) == []
