"""`dovecote api-key …`: through the running orchestrator, else on the store."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from orchestrator.cli.client import ApiClient
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.place import ask_or_look, open_place
from orchestrator.cli.store_services import open_store_services
from orchestrator.cli.table import columns
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import add_api_key, list_api_keys, remove_api_key
from orchestrator.contracts.errors import NotFound

Object = Mapping[str, Any]
_ROUTE = "/api/v1/api-keys"


def add(home_option: Path | None, name: str, scopes: Sequence[str], *, as_json: bool) -> None:
    """Make a key and print it: nothing shows it again. Raises DovecoteError."""
    made = asyncio.run(_added(open_home(home_option), name, scopes))
    if as_json:
        print(json.dumps(made, indent=2))
        return
    print(made["key"])  # alone, so that a shell can keep it in a variable
    told = f"This is the key of {made['name']} ({', '.join(made['scopes'])}). It is not shown again."
    print(told, file=sys.stderr)


def list_all(home_option: Path | None, *, as_json: bool) -> None:
    """One line a key, without the key. Raises DovecoteError."""
    found = asyncio.run(_listed(open_home(home_option)))
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("There are no API keys.")
    else:
        rows = [(str(each["name"]), ", ".join(each["scopes"]), str(each["createdAt"])) for each in found]
        for line in columns(("NAME", "SCOPES", "MADE AT"), rows):
            print(line)


def remove(home_option: Path | None, name: str) -> None:
    """Make it void. Raises DovecoteError."""
    asyncio.run(_removed(open_home(home_option), name))
    print(f"The API key {name} is void.")


async def _added(home: Home, name: str, scopes: Sequence[str]) -> Object:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                made: Object = await place.call("POST", _ROUTE, body={"name": name, "scopes": list(scopes)})
                return made
            case Services():
                return await add_api_key(place, name, scopes)
            case None:
                pass
    make_home(home)
    async with open_store_services(home) as services:
        return await add_api_key(services, name, scopes)


async def _listed(home: Home) -> Sequence[Object]:
    found: Sequence[Object] = await ask_or_look(
        home, lambda client: client.call("GET", _ROUTE), list_api_keys, nothing=[]
    )
    return found


async def _removed(home: Home, name: str) -> None:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                await place.call("DELETE", f"{_ROUTE}/{quote(name, safe='')}")
            case Services():
                await remove_api_key(place, name)
            case None:
                raise NotFound(f"There is no API key {name!r}.", suggestion="Nothing is set up here yet.")
