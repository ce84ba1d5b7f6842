"""The library's session file: whether an account is linked, without loading the library."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from orchestrator.channels.whatsapp.jids import jid_from_text
from orchestrator.contracts.ids import Jid

ACCOUNT: Final = "SELECT jid, lid FROM whatsmeow_device ORDER BY rowid DESC LIMIT 1"


def linked_account(session: Path) -> str | None:
    """The account with its device number, such as `491701234567:3@s.whatsapp.net`; None if none is linked.

    A session that can't be read counts as none. Blocks for as long as reading a small file takes.
    """
    found = _account(session)
    return found[0] if found else None


def linked_ids(session: Path) -> tuple[Jid, ...]:
    """The account's phone id and its hidden one, as far as they are known."""
    found = (jid_from_text(each) for each in _account(session))
    return tuple(each for each in found if each is not None)


def _account(session: Path) -> tuple[str, ...]:
    if not session.is_file():
        return ()
    try:
        with closing(sqlite3.connect(f"file:{quote(str(session))}?mode=ro", uri=True, timeout=1.0)) as opened:
            row = opened.execute(ACCOUNT).fetchone()
    except sqlite3.Error:
        return ()
    return tuple(str(each) for each in row or () if each)
