"""`dovecote whatsapp status` and `groups`: they only read, beside a running orchestrator or without one."""

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from orchestrator.channels.whatsapp.linked_since import linked_since
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.client import running_client
from orchestrator.cli.home import open_home
from orchestrator.cli.table import columns
from orchestrator.contracts.errors import Unavailable
from orchestrator.core.text_cleaning import clean_text
from orchestrator.paths import Paths

GROUPS: Final = """
SELECT chats.jid, chats.name, groups.folder
  FROM chats LEFT JOIN groups ON groups.jid = chats.jid
 WHERE chats.channel = 'whatsapp' AND chats.is_group = 1
 ORDER BY groups.folder IS NULL, chats.name, chats.jid
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppStatus:
    """How the account stands. link: `open`, `off`, `not running`, or why it is not open."""

    account: str | None
    linked_since: str | None
    enabled: bool
    link: str
    waiting: int


def status(home_option: Path | None, *, as_json: bool) -> None:
    """Print it."""
    home = open_home(home_option)
    found = asyncio.run(_status(home.paths, is_enabled=home.settings.whatsapp.enabled))
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return
    since = "" if found.linked_since is None else f", linked {found.linked_since[:16].replace('T', ' ')} UTC"
    print(f"account  {found.account or 'none; link one with `dovecote whatsapp link`'}{since}")
    print(f"channel  {'on' if found.enabled else 'off (whatsapp.enabled)'}")
    print(f"link     {found.link}")
    if found.waiting:
        print(f"waiting  {found.waiting} events are not stored yet")


def groups(home_option: Path | None, part: str | None, *, as_json: bool) -> None:
    """Print the groups that are known, those that are registered first. Raises Unavailable."""
    home = open_home(home_option)
    rows = [row for row in _groups(home.paths) if part is None or _holds(row, part)]
    if as_json:
        print(json.dumps([dict(zip(("jid", "name", "folder"), row, strict=True)) for row in rows], indent=2))
    elif not rows:
        print("No groups are known yet; they are asked for when the link is open.")
    else:
        table = [[clean_text(str(name or "")), jid, folder or "-"] for jid, name, folder in rows]
        print("\n".join(columns(["NAME", "CHAT", "FOLDER"], table)))
        print("Register one with: dovecote group add FOLDER --jid CHAT")


def _holds(row: tuple[str | None, ...], part: str) -> bool:
    return any(part.casefold() in each.casefold() for each in row if each)


async def _status(paths: Paths, *, is_enabled: bool) -> WhatsAppStatus:
    account, since = linked_account(paths.whatsapp_session), linked_since(paths.whatsapp_session)
    return WhatsAppStatus(
        account=None if account is None else account.partition("@")[0].partition(":")[0],
        linked_since=None if since is None else since.isoformat(),
        enabled=is_enabled,
        link=await _link(paths, is_enabled=is_enabled),
        waiting=sum(1 for _ in paths.whatsapp_spool.glob("*.row")),
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


def _groups(paths: Paths) -> list[tuple[str, str | None, str | None]]:
    if not paths.database.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{quote(str(paths.database))}?mode=ro", uri=True)) as opened:
            return list(opened.execute(GROUPS))
    except sqlite3.Error as error:
        raise Unavailable(
            f"{paths.database} cannot be read: {error}.", suggestion="Run dovecote doctor."
        ) from error
