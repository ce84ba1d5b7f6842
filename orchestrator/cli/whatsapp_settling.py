"""What follows a link: the channel is switched on, and operators are asked where somebody looks."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from orchestrator.channels.whatsapp.jids import PHONE_SERVER
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.cli.client import running_client
from orchestrator.cli.groups import GroupDesk, at_desk
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.whatsapp_numbers import account_number, number_of
from orchestrator.commands.groups.first_start import MAIN_CHAT, MAIN_FOLDER
from orchestrator.commands.groups.groups import NewGroup
from orchestrator.contracts.errors import InvalidRequest, NotFound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.settings.loading import FILE_NAME, load_settings_here
from orchestrator.settings.writing import set_switches

Ask = Callable[[str], str]
"""Asks a person and returns the answer; empty where none comes."""
_SELF_FOLDER: Final = "own"
_OWNER_FOLDER: Final = "operator"


def ask_at_terminal(question: str) -> str:
    """What the person at this terminal says."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        return ""


def settle(home: Home, account: str, *, ask: Ask | None = None) -> None:
    """Switch the channel on, and agree where operators are asked. ask: None where nobody can be asked.

    An answer that is no number is asked for again.
    """
    is_own = ask is not None and ask(_WHOSE).lower() in ("y", "yes")
    _switch_on(home, has_owner=is_own)
    if is_own:
        _make_main(home, _self_chat(account), _SELF_FOLDER)
        return
    while ask is not None and (answer := ask(_WHERE)):
        try:
            number = number_of(answer)
        except InvalidRequest as error:
            print(f"{error.message} {error.suggestion}")
        else:
            _make_main(home, Jid(f"{number}@{PHONE_SERVER}"), _OWNER_FOLDER)
            return
    print("What needs a yes is asked in the terminal's chat. To be asked on WhatsApp instead:")
    print("  dovecote whatsapp main +49…   in the chat with that number, such as your own")
    print("  dovecote whatsapp main        in the account's chat with itself")


_WHOSE: Final = "Is this your own number, from which you write yourself? [y/N] "
_WHERE: Final = "Your own number, to ask you there what needs a yes (Enter: only in the terminal): "


def choose_main(home_option: Path | None, phone: str | None) -> None:
    """Make a direct chat the main one: with `phone`, or the account's own.

    Raises NotFound or InvalidRequest.
    """
    home = open_home(home_option)
    if phone is not None:
        _make_main(home, Jid(f"{number_of(phone)}@{PHONE_SERVER}"), _OWNER_FOLDER)
        return
    account = linked_account(home.paths.whatsapp_session)
    if account is None:
        raise NotFound("No WhatsApp account is linked.", suggestion="To link one: dovecote whatsapp link")
    _make_main(home, _self_chat(account), _SELF_FOLDER)
    if not home.settings.whatsapp.has_owner:
        print("What you write there counts once whatsapp.has_owner is true.")


def _self_chat(account: str) -> Jid:
    return Jid(f"{account_number(account)}@{PHONE_SERVER}")


def _make_main(home: Home, chat: Jid, folder: str) -> None:
    async def work(desk: GroupDesk) -> Group:
        known = await desk.list_all()
        if not known:  # as the first start would: the terminal's chat is there too
            await desk.add(NewGroup(jid=MAIN_CHAT, folder=MAIN_FOLDER, name="Main", is_main=True, adopt=True))
        found = next((each for each in known if each.jid == chat), None)
        if found is None:
            found = await desk.add(NewGroup(jid=chat, folder=folder, name="Operator", adopt=True))
        return found if found.is_main else await desk.change(found.folder, {"is_main": True})

    make_home(home)
    group = at_desk(home, work)
    print(f"The chat with +{chat.partition('@')[0]} is the main one now, as group {group.folder}.")
    if not home.settings.alerts.command:
        print("When WhatsApp itself is away nobody can be told there: name a program in alerts.command.")


def _switch_on(home: Home, *, has_owner: bool) -> None:
    """In the settings file, or say what is to be done by hand."""
    wanted = {"enabled": True, **({"has_owner": True} if has_owner else {})}
    path = home.paths.home / FILE_NAME
    try:
        is_written = set_switches(path, "whatsapp", wanted)
    except OSError:
        is_written = False
    now = load_settings_here(home.paths.home)
    if all(getattr(now.settings.whatsapp, name) for name in wanted):
        print(f"WhatsApp is switched on in {path}.")
    elif is_written:
        origin = now.origins.get("whatsapp.enabled", "the environment")
        print(f"Warning: WhatsApp stays off: {origin} says so.", file=sys.stderr)
    else:
        lines = ", ".join(f"{name} = true" for name in wanted)
        print(f"Now set under [whatsapp] in {path}: {lines}")
    if asyncio.run(_runs(home)):
        print("Start Dovecote again: it reads its settings at its start.")
    else:
        print("Start Dovecote: dovecote serve, or dovecote chat")


def switch_off(home: Home) -> None:
    """No account is linked any more: a channel that is on would have operators told so at each start."""
    if not home.settings.whatsapp.enabled:
        return
    path = home.paths.home / FILE_NAME
    try:
        is_off = set_switches(path, "whatsapp", {"enabled": False})
    except OSError:
        is_off = False
    if is_off and not load_settings_here(home.paths.home).settings.whatsapp.enabled:
        print(f"WhatsApp is switched off in {path}.")
    else:
        print("WhatsApp is still switched on: set whatsapp.enabled to false where it is set.")


async def _runs(home: Home) -> bool:
    client = await running_client(home.paths)
    if client is None:
        return False
    async with client:
        return True
