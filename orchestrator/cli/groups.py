"""`dovecote group …`: through the running orchestrator, else on the store with the same commands."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from orchestrator.channels.console import PREFIX
from orchestrator.cli.client import ApiClient
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.labels import instant
from orchestrator.cli.place import open_place
from orchestrator.cli.table import columns
from orchestrator.commands.groups import groups
from orchestrator.commands.groups.groups import CHANGEABLE, NewGroup
from orchestrator.commands.hearing.sender_rules import SenderRulesView, show_sender_rules
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import InvalidRequest, NotFound
from orchestrator.contracts.faults import refuse_any
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.senders import SenderMode
from orchestrator.core.text_cleaning import clean_text
from orchestrator.store.times import shown_at

T = TypeVar("T")
_GROUP: Final = TypeAdapter(Group)
_GROUPS: Final = TypeAdapter(list[Group])
_SENDERS: Final = TypeAdapter(SenderRulesView)
_WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class GroupDesk(Protocol):
    """Where groups are managed. Every failure is a `DovecoteError`."""

    async def add(self, new: NewGroup) -> Group: ...

    async def list_all(self) -> list[Group]: ...

    async def show(self, folder: str) -> Group: ...

    async def senders(self, folder: str) -> SenderRulesView: ...

    async def change(self, folder: str, changes: Mapping[str, object]) -> Group: ...

    async def remove(self, folder: str) -> Group: ...


class HttpDesk:
    """At the running orchestrator."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def add(self, new: NewGroup) -> Group:
        """POST."""
        return _GROUP.validate_python(await self._client.call("POST", "/api/v1/groups", body=asdict(new)))

    async def list_all(self) -> list[Group]:
        """GET all."""
        return _GROUPS.validate_python(await self._client.call("GET", "/api/v1/groups"))

    async def show(self, folder: str) -> Group:
        """GET one."""
        return _GROUP.validate_python(await self._client.call("GET", _path(folder)))

    async def senders(self, folder: str) -> SenderRulesView:
        """GET its rules."""
        return _SENDERS.validate_python(await self._client.call("GET", f"{_path(folder)}/senders"))

    async def change(self, folder: str, changes: Mapping[str, object]) -> Group:
        """PATCH."""
        return _GROUP.validate_python(await self._client.call("PATCH", _path(folder), body=dict(changes)))

    async def remove(self, folder: str) -> Group:
        """DELETE."""
        return _GROUP.validate_python(await self._client.call("DELETE", _path(folder)))


class StoreDesk:
    """At the store of a home in which no orchestrator runs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._caller = OperatorCaller()

    async def add(self, new: NewGroup) -> Group:
        """The command itself."""
        return await groups.add_group(self._services, self._caller, new)

    async def list_all(self) -> list[Group]:
        """The command itself."""
        return await groups.list_groups(self._services)

    async def show(self, folder: str) -> Group:
        """The command itself."""
        return await groups.show_group(self._services, folder)

    async def senders(self, folder: str) -> SenderRulesView:
        """The command itself."""
        return await show_sender_rules(self._services, folder)

    async def change(self, folder: str, changes: Mapping[str, object]) -> Group:
        """The command itself."""
        return await groups.change_group(self._services, self._caller, folder, changes)

    async def remove(self, folder: str) -> Group:
        """The command itself."""
        return await groups.remove_group(self._services, self._caller, folder)


class EmptyDesk:
    """At a home that was never used: to look at it makes nothing in it."""

    def __init__(self, home: Home) -> None:
        self._home = home

    async def add(self, new: NewGroup) -> Group:
        """Whoever adds makes the home first."""
        raise self._nothing()

    async def list_all(self) -> list[Group]:
        """None."""
        return []

    async def show(self, folder: str) -> Group:
        """None."""
        raise self._nothing()

    async def senders(self, folder: str) -> SenderRulesView:
        """None."""
        raise self._nothing()

    async def change(self, folder: str, changes: Mapping[str, object]) -> Group:
        """None."""
        raise self._nothing()

    async def remove(self, folder: str) -> Group:
        """None."""
        raise self._nothing()

    def _nothing(self) -> NotFound:
        return NotFound(
            f"There are no groups in {self._home.paths.home} yet.",
            suggestion="Start Dovecote there once, add a group, or name another home with --home.",
        )


def add(home_option: Path | None, new: NewGroup) -> None:
    """Register a chat and say where its folder is."""
    home = open_home(home_option)
    make_home(home)
    group = at_desk(home, lambda desk: desk.add(new))
    print(f"Group {group.folder} is registered for {clean_text(group.jid)}.")
    if not group.jid.startswith(PREFIX):
        print("It is no chat of the terminal, whose names are like console:garden.")
        print("A chat of WhatsApp is served once an account is linked: dovecote whatsapp status")
    print(f"Its instructions are in {home.paths.group(group.folder) / 'AGENT.md'}.")


def list_all(home_option: Path | None, *, as_json: bool) -> None:
    """One line a group."""
    found = at_desk(open_home(home_option), lambda desk: desk.list_all())
    if as_json:
        print(json.dumps([_plain(group) for group in found], indent=2))
        return
    if not found:
        print("No groups yet. The first start registers console:main.")
        return
    rows = [(g.folder, g.jid, _when(g), g.name) for g in found]
    for row in columns(("FOLDER", "CHAT", "ANSWERS", "NAME"), rows):
        print(row)


def show(home_option: Path | None, folder: str, *, as_json: bool) -> None:
    """All settings of one group, and who may set the assistant off there."""

    async def work(desk: GroupDesk) -> tuple[Group, SenderRulesView]:
        return await desk.show(folder), await desk.senders(folder)

    found, rules = at_desk(open_home(home_option), work)
    group = _plain(found)
    if as_json:
        view = {"mode": rules.mode, "listed": rules.senders, "trouble": rules.trouble}
        print(json.dumps(group | {"senders": view}, indent=2))
        return
    for name in group:
        print(f"{name:<17} {_as_written(getattr(found, name))}")
    print(f"{'senders':<17} {_as_written(_who(rules))}")


def change(home_option: Path | None, folder: str, pairs: Sequence[str]) -> None:
    """Set what the `name=value` pairs say."""
    changes = parse_changes(pairs)

    async def work(desk: GroupDesk) -> tuple[Group, Group | None]:
        before = next((each for each in await desk.list_all() if each.is_main), None)
        return await desk.change(folder, changes), before

    group, main_before = at_desk(open_home(home_option), work)
    print(f"Group {group.folder} is changed: {', '.join(changes)}.")
    if group.is_main and main_before is not None and main_before.folder != group.folder:
        print(f"It is main now; {main_before.folder} no longer is.")


def remove(home_option: Path | None, folder: str) -> None:
    """Forget the registration."""
    home = open_home(home_option)
    group = at_desk(home, lambda desk: desk.remove(folder))
    print(f"Group {group.folder} is no longer registered. {home.paths.group(group.folder)} stays.")


def parse_changes(pairs: Sequence[str]) -> dict[str, object]:
    """`["requires_trigger=no"]` as `{"requires_trigger": False}`. Raises InvalidRequest.

    What no group has, or can't take, is left for the command to refuse with all else that is wrong.
    """
    changes: dict[str, object] = {}
    wrong: list[InvalidRequest] = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            mend = f"Write NAME=VALUE with one of: {', '.join(CHANGEABLE)}."
            wrong.append(InvalidRequest(f"{clean_text(pair)!r} is not a change.", suggestion=mend))
        elif name in changes:
            mend = "Give each setting once."
            wrong.append(InvalidRequest(f"{clean_text(name)} is given twice.", suggestion=mend))
        elif CHANGEABLE.get(name) is bool:
            changes[name] = _WORDS.get(value.lower(), value)
        else:
            # An empty timezone takes the group back to the one of the settings.
            changes[name] = None if name == "timezone" and not value else value
    refuse_any(wrong)
    return changes


def at_desk(home: Home, work: Callable[[GroupDesk], Awaitable[T]]) -> T:
    async def run() -> T:
        async with _open_desk(home) as desk:
            return await work(desk)

    return asyncio.run(run())


@contextlib.asynccontextmanager
async def _open_desk(home: Home) -> AsyncIterator[GroupDesk]:
    async with open_place(home) as place:
        match place:
            case ApiClient():
                yield HttpDesk(place)
            case Services():
                yield StoreDesk(place)
            case None:
                yield EmptyDesk(home)


def _path(folder: str) -> str:
    return f"/api/v1/groups/{quote(folder, safe='')}"


def _plain(group: Group) -> dict[str, Any]:
    plain: dict[str, Any] = _GROUP.dump_python(group, mode="json")
    return plain


def _as_written(value: object) -> str:
    """A setting as `dovecote group set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return instant(shown_at(value) or "")
    return "" if value is None else clean_text(str(value))


def _when(group: Group) -> str:
    if group.is_main:
        return "every message (main)"
    return f"messages with {group.trigger}" if group.requires_trigger else "every message"


def _who(rules: SenderRulesView) -> str:
    """The sender rules on one line."""
    if rules.mode is None:
        who = "operators only"
    elif rules.mode == SenderMode.ANYONE:
        who = "anyone"
    else:
        who = f"{rules.mode}: {', '.join(rules.senders) or 'nobody but operators'}"
    if rules.trouble is None:
        return who
    several = rules.trouble.count("\n") > 0
    return f"{who} (broken:\n{rules.trouble})" if several else f"{who} (broken: {rules.trouble})"
