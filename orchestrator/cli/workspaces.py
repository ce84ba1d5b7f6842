"""`dovecote workspace …`: through the running orchestrator, else on the store."""

import asyncio
import json
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from orchestrator.cli.client import ApiClient
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.place import ask_or_look, open_place
from orchestrator.cli.store_services import open_store_services
from orchestrator.cli.table import columns
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.workspaces import (
    approve_workspace,
    list_workspaces,
    reject_workspace,
    remove_workspace,
)
from orchestrator.contracts.callers import AnyCaller, OperatorCaller
from orchestrator.core.text_cleaning import clean_text

Object = Mapping[str, Any]
Word = Literal["approve", "reject", "remove"]
_ROUTE: Final = "/api/v1/workspaces"
_Change = Callable[[Services, AnyCaller, str], Awaitable[Object]]
_CHANGES: Final[Mapping[Word, _Change]] = {
    "approve": approve_workspace,
    "reject": reject_workspace,
    "remove": remove_workspace,
}


def list_all(home_option: Path | None, *, as_json: bool) -> None:
    """One line a directory. Raises DovecoteError."""
    found = asyncio.run(_listed(open_home(home_option)))
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("Helpers work in the folders of groups only. Allow more: dovecote workspace approve PATH")
    else:
        rows = [(clean_text(each["path"]), each["status"], clean_text(each["origin"])) for each in found]
        for line in columns(("DIRECTORY", "STATUS", "FROM"), rows):
            print(line)


def change(home_option: Path | None, word: Word, path: Path, *, as_json: bool) -> None:
    """Allow, refuse or forget a directory. Raises DovecoteError."""
    changed = asyncio.run(_changed(open_home(home_option), word, str(path.expanduser().absolute())))
    if as_json:
        print(json.dumps(changed, indent=2))
    else:
        print(f"{clean_text(changed['path'])} is {changed['status']}.")
    if (warning := changed.get("warning")) is not None:
        again = shlex.join(["dovecote", "workspace", "remove", str(changed["path"])])
        print(f"Warning: {clean_text(warning)}\nTo take it back: {again}", file=sys.stderr)


async def _listed(home: Home) -> Sequence[Object]:
    found: Sequence[Object] = await ask_or_look(
        home, lambda client: client.call("GET", _ROUTE), list_workspaces, nothing=[]
    )
    return found


async def _changed(home: Home, word: Word, path: str) -> Object:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                changed: Object = await place.call("POST", f"{_ROUTE}/{word}", body={"path": path})
                return changed
            case Services():
                return await _CHANGES[word](place, OperatorCaller(), path)
            case None:
                pass
    make_home(home)
    async with open_store_services(home) as services:
        return await _CHANGES[word](services, OperatorCaller(), path)
