"""`dovecote whatsapp status` and `groups`, beside a running orchestrator or without one."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from orchestrator.channels.whatsapp.linked_since import linked_since
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.client import running_client
from orchestrator.cli.groups import at_desk
from orchestrator.cli.home import Home, open_home
from orchestrator.cli.table import columns
from orchestrator.commands.groups.groups import NewGroup
from orchestrator.contracts.errors import NotFound, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.core.text_cleaning import clean_text
from orchestrator.paths import Paths

GROUPS: Final = """
SELECT chats.jid, chats.name, groups.folder
  FROM chats LEFT JOIN groups ON groups.jid = chats.jid
 WHERE chats.channel = 'whatsapp' AND chats.is_group = 1 AND chats.is_member IS NOT 0
 ORDER BY groups.folder IS NULL, chats.name, chats.jid
"""
LAST_HEARD: Final = """
SELECT is_group, max(last_activity_ms) FROM chats WHERE channel = 'whatsapp' GROUP BY is_group
"""

_Row = tuple[str, str | None, str | None]
"""A group: its id, its name, and the folder it is registered under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppStatus:
    """How the account stands. link: `open`, `off`, `not running`, or why it is not open.

    waiting: events that are not stored yet. last_in_groups, last_in_direct: when something was heard last.
    """

    account: str | None
    linked_since: str | None
    enabled: bool
    link: str
    waiting: int
    last_in_groups: str | None
    last_in_direct: str | None


def status(home_option: Path | None, *, as_json: bool) -> None:
    """Print it."""
    home = open_home(home_option)
    found = asyncio.run(_status(home.paths, is_enabled=home.settings.whatsapp.enabled))
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return
    since = "" if found.linked_since is None else f", linked {_shown(found.linked_since)}"
    print(f"account  {found.account or 'none; link one with `dovecote whatsapp link`'}{since}")
    print(f"channel  {'on' if found.enabled else 'off (whatsapp.enabled)'}")
    print(f"link     {found.link}")
    in_groups, in_direct = _shown(found.last_in_groups), _shown(found.last_in_direct)
    print(f"heard    in groups: {in_groups}; in direct chats: {in_direct}")
    if found.waiting:
        print(f"waiting  {found.waiting} events are not stored yet")


def groups(home_option: Path | None, which: str | None, folder: str | None, *, as_json: bool) -> None:
    """Print the groups that are known, those that are registered first, or register one of them as `folder`.

    which: a number of the list, or a part of a name or an id. Raises NotFound, InvalidRequest, Unavailable.
    """
    home = open_home(home_option)
    rows = _chosen(_numbered(home.paths), which)
    if folder is not None:
        _register(home, rows, folder)
    elif as_json:
        plain = [{"jid": jid, "name": name, "folder": known} for _, (jid, name, known) in rows]
        print(json.dumps(plain, indent=2))
    elif not rows:
        print("No such group is known; groups are asked for when the link is open.")
    else:
        table = [[str(number), _name(row), row[0], row[2] or "-"] for number, row in rows]
        print("\n".join(columns(["NO", "NAME", "CHAT", "FOLDER"], table)))
        print("Register one with: dovecote whatsapp groups NO --register FOLDER")


def _numbered(paths: Paths) -> list[tuple[int, _Row]]:
    return list(enumerate(_read(paths, GROUPS), start=1))


def _chosen(rows: Sequence[tuple[int, _Row]], which: str | None) -> list[tuple[int, _Row]]:
    """Those that `which` may mean; a number of the list means that one."""
    if which is None:
        return list(rows)
    if which.isdecimal() and 1 <= int(which) <= len(rows):
        return [rows[int(which) - 1]]
    return [row for row in rows if any(which.casefold() in each.casefold() for each in row[1] if each)]


def _register(home: Home, rows: Sequence[tuple[int, _Row]], folder: str) -> None:
    if not rows:
        raise NotFound(
            "No such group is known.",
            suggestion="See them with: dovecote whatsapp groups. They are asked for when the link is open.",
        )
    if len(rows) != 1:
        raise NotFound(
            f"{len(rows)} groups are meant, and one is registered at a time.",
            suggestion="See them with: dovecote whatsapp groups, and name one by its number.",
        )
    _, row = rows[0]
    new = NewGroup(jid=Jid(row[0]), folder=folder, name=_name(row))
    group = at_desk(home, lambda desk: desk.add(new))
    print(f"{_name(row)} is registered as {group.folder}; {group.trigger} calls the assistant there.")


def _name(row: _Row) -> str:
    return clean_text(row[1] or "") or row[0]


def _shown(at: str | None) -> str:
    return "never" if at is None else f"{at[:16].replace('T', ' ')} UTC"


async def _status(paths: Paths, *, is_enabled: bool) -> WhatsAppStatus:
    heard = {is_group: _iso(at_ms) for is_group, at_ms in _read(paths, LAST_HEARD)}
    account, since = linked_account(paths.whatsapp_session), linked_since(paths.whatsapp_session)
    return WhatsAppStatus(
        account=None if account is None else account.partition("@")[0].partition(":")[0],
        linked_since=None if since is None else since.isoformat(),
        enabled=is_enabled,
        link=await _link(paths, is_enabled=is_enabled),
        waiting=sum(1 for _ in paths.whatsapp_spool.glob("*.row")),
        last_in_groups=heard.get(1),
        last_in_direct=heard.get(0),
    )


async def _link(paths: Paths, *, is_enabled: bool) -> str:
    client = await running_client(paths)
    if client is None:
        return "the orchestrator does not run"
    if not is_enabled:
        return "off"
    async with client:
        answer: dict[str, Any] = await client.call("GET", "/api/v1/status")
    return str(answer["troubles"].get("whatsapp", "open"))


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()


def _read(paths: Paths, query: str) -> list[Any]:
    if not paths.database.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{quote(str(paths.database))}?mode=ro", uri=True)) as opened:
            return list(opened.execute(query))
    except sqlite3.Error as error:
        raise Unavailable(
            f"{paths.database} cannot be read: {error}.",
            suggestion="Start Dovecote once if you have just updated it; else run dovecote doctor",
        ) from error
