"""`dovecote forget …`: at the running orchestrator, else on the store with the same commands."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import TypeAdapter

from orchestrator.cli.client import ApiClient
from orchestrator.cli.findings import Patient
from orchestrator.cli.home import Home, open_home
from orchestrator.cli.place import open_place
from orchestrator.cli.store_checks import is_made, open_store
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
from orchestrator.paths import Paths
from orchestrator.store.forgetting import KNOWS_GROUP, KNOWS_PERSON

Forget = Callable[[Services, Caller, str], Awaitable[Forgotten]]
_FORGOTTEN: Final = TypeAdapter(Forgotten)
_NOTHING: Final = Forgotten(rows={}, files=(), resisted=(), copies=(), stays=())
_A_HOME: Final = " (a home: forget it there too, with --home)"
_OUR_OWN: Final = ("entry of our own bookkeeping", "entries of our own bookkeeping")
WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "agents": ("agent", "agents"),
    "answers": ("answer", "answers"),
    "answers and notices": ("answer or notice", "answers and notices"),
    "chats": ("chat", "chats"),
    "contacts": ("second id of the person", "second ids of the person"),
    "events": ("event of agents", "events of agents"),
    "helpers": ("helper", "helpers"),
    "members": ("member of the chat", "members of the chat"),
    "memberships": ("membership in a chat", "memberships in chats"),
    "messages": ("message", "messages"),
    "names": ("name", "names"),
    "notices elsewhere": ("notice in another chat", "notices in other chats"),
    "proposals": ("proposal", "proposals"),
    "questions": ("question of agents", "questions of agents"),
    "questions in its chat": ("question of agents", "questions of agents"),
    "quotes": ("quotation", "quotations"),
    "refused spawns": ("refused wish for a helper", "refused wishes for helpers"),
    "requests": ("request of agents", "requests of agents"),
    "results of helpers": ("result of a helper", "results of helpers"),
    "runs of tasks": ("run of a task", "runs of tasks"),
    "sessions": ("conversation of agents", "conversations of agents"),
    "tasks": ("task", "tasks"),
    "uses of providers": ("use of a provider", "uses of providers"),
}
"""What people call the rows that went: one, and several."""
_WITHIN_S: Final = 600.0
"""Agents are stopped first, and a large store takes a while to be written anew."""


def run_forget_group(home_option: Path | None, folder: str, *, is_sure: bool, as_json: bool) -> int:
    """The exit code: 1 if something resisted. Raises DovecoteError."""
    home = open_home(home_option)
    folder_named(folder)
    what = f"group {clean_text(folder)} with its chat, its folder, its tasks and all that its agents did"
    has_folder = (home.paths.groups / folder).exists()
    _make_sure(what, is_sure=is_sure or not (has_folder or _is_known(home, KNOWS_GROUP, folder)))
    found = asyncio.run(_forgotten(home, f"groups/{quote(folder, safe='')}", forget_group, folder))
    return _tell(home, f"group {clean_text(folder)}", found, as_json=as_json)


def run_forget_person(home_option: Path | None, jid: str, *, is_sure: bool, as_json: bool) -> int:
    """The exit code: 1 if something resisted. Raises DovecoteError."""
    home = open_home(home_option)
    person_named(jid)
    what = (
        f"what {clean_text(jid)} wrote, the answers to it, and the conversations of agents in the groups "
        "where it was written"
    )
    _make_sure(what, is_sure=is_sure or not _is_known(home, KNOWS_PERSON, jid))
    found = asyncio.run(_forgotten(home, f"people/{quote(jid, safe='')}", forget_person, jid))
    return _tell(home, clean_text(jid), found, as_json=as_json)


def _is_known(home: Home, question: str, whose: str) -> bool:
    """Whether the store holds anything of it: else there is nothing that could be lost by mistake."""
    if not is_made(home.paths.database):
        return False
    try:
        with closing(open_store(Patient(paths=home.paths, settings=home.settings, pid=None))) as store:
            return bool(store.execute(question, {"whose": whose}).fetchone()[0])
    except sqlite3.Error:
        return True  # an older store, or a broken one: who knows


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


def _counted(rows: Mapping[str, int]) -> list[str]:
    """How many of what went, in words; what only Dovecote itself counts by is one line."""
    counts: dict[tuple[str, str], int] = {}
    for what, count in rows.items():
        words = WORDS.get(what, _OUR_OWN)
        counts[words] = counts.get(words, 0) + count
    in_order = sorted(counts.items(), key=lambda each: each[0] == _OUR_OWN)
    return [f"{count} {one if count == 1 else more}" for (one, more), count in in_order]


def _is_other_home(home: Home, copy: Path) -> bool:
    """What a restore set aside looks like one, and lies in the home itself."""
    return Paths(home=copy).data.is_dir() and not copy.is_relative_to(home.paths.home)


def _tell(home: Home, whom: str, found: Forgotten, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return 1 if found.resisted else 0
    if not found.rows and not found.files:
        print(f"Nothing is kept of {whom}.")
    for line in _counted(found.rows):
        print(f"removed  {line}")
    for path in found.files:
        print(f"removed  {clean_text(path)}")
    for path in found.resisted:
        print(f"RESISTED {clean_text(path)}: remove it by hand")
    for sentence in found.stays:
        print(sentence)
    if found.copies:
        print("Copies that were made before may still hold it; remove them if they must not:")
        for path in found.copies:
            print(f"  {clean_text(path)}{_A_HOME if _is_other_home(home, Path(path)) else ''}")
    return 1 if found.resisted else 0
