"""`dovecote forget …`: at the running orchestrator, else on the store with the same commands."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import TypeAdapter

from orchestrator.cli.client import ApiClient
from orchestrator.cli.home import Home, open_home
from orchestrator.cli.place import open_place
from orchestrator.commands.keeping.forgetting import (
    Forgotten,
    folder_named,
    forget_group,
    forget_person,
    person_named,
)
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller, OperatorCaller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.core.text_cleaning import clean_text

Forget = Callable[[Services, Caller, str], Awaitable[Forgotten]]
_FORGOTTEN: Final = TypeAdapter(Forgotten)
_NOTHING: Final = Forgotten(rows={}, files=(), resisted=(), copies=(), stays=())
_WITHIN_S: Final = 600.0
"""Agents are stopped first, and a large store takes a while to be written anew."""


def run_forget_group(home_option: Path | None, folder: str, *, is_sure: bool, as_json: bool) -> int:
    """The exit code: 1 if something resisted. Raises DovecoteError."""
    home = open_home(home_option)
    folder_named(folder)
    what = f"group {clean_text(folder)} with its chat, its folder, its tasks and all that its agents did"
    _make_sure(what, is_sure=is_sure)
    found = asyncio.run(_forgotten(home, f"groups/{quote(folder, safe='')}", forget_group, folder))
    return _tell(f"group {clean_text(folder)}", found, as_json=as_json)


def run_forget_person(home_option: Path | None, jid: str, *, is_sure: bool, as_json: bool) -> int:
    """The exit code: 1 if something resisted. Raises DovecoteError."""
    home = open_home(home_option)
    person_named(jid)
    what = (
        f"what {clean_text(jid)} wrote, the answers to it, and the conversations of agents in the groups "
        "where it was written"
    )
    _make_sure(what, is_sure=is_sure)
    found = asyncio.run(_forgotten(home, f"people/{quote(jid, safe='')}", forget_person, jid))
    return _tell(clean_text(jid), found, as_json=as_json)


def _make_sure(what: str, *, is_sure: bool) -> None:
    """Ask, unless the command line said it. Raises InvalidRequest for a no, and where nobody can be asked."""
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise InvalidRequest(
            "Nothing was forgotten: this cannot be undone, and nobody can be asked.",
            suggestion="Say --yes if you are sure.",
        )
    print(f"This removes {what}. It cannot be undone.")
    if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise InvalidRequest("Nothing was forgotten.")


async def _forgotten(home: Home, route: str, forget: Forget, name: str) -> Forgotten:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                answer = await place.call("POST", f"/api/v1/forget/{route}", timeout_s=_WITHIN_S)
                return _FORGOTTEN.validate_python(answer)
            case Services():
                return await forget(place, OperatorCaller(), name)
            case None:
                return _NOTHING


def _tell(whom: str, found: Forgotten, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return 1 if found.resisted else 0
    if not found.rows and not found.files:
        print(f"Nothing is kept of {whom}.")
    for what, count in found.rows.items():
        print(f"removed  {count} {what}")
    for path in found.files:
        print(f"removed  {clean_text(path)}")
    for path in found.resisted:
        print(f"RESISTED {clean_text(path)}: remove it by hand")
    for sentence in found.stays:
        print(sentence)
    if found.copies:
        print("Copies that were made before may still hold it; remove them if they must not:")
        for path in found.copies:
            print(f"  {clean_text(path)}")
    return 1 if found.resisted else 0
