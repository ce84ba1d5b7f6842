"""Registering chats and changing how they behave. Source: contracts.md sections 4 and 6."""

import asyncio
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from orchestrator.commands.services import Services
from orchestrator.commands.running.task_runs import pause_tasks_of_gone_group
from orchestrator.contracts.callers import Caller
from orchestrator.contracts.errors import Conflict, InvalidRequest, NotFound
from orchestrator.contracts.faults import refusal_noted, refuse_any
from orchestrator.contracts.ids import GroupFolder, Jid, is_chat_id, is_folder_name
from orchestrator.contracts.records.groups import Group, TriggerPosition
from orchestrator.contracts.seams import Topic
from orchestrator.core.authority import Target, allow
from orchestrator.core.chat.trigger import compile_trigger, default_trigger
from orchestrator.core.text_cleaning import clean_name
from orchestrator.core.wording import CATALOGUES, knows_language
from orchestrator.settings.tree import is_timezone
from orchestrator.shipped import template_for
from orchestrator.store import contacts, groups
from orchestrator.store.transaction import Transaction
from orchestrator.store.group_folders import create_group_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """What a registration says; None takes the default.

    adopt: use a folder that exists already, with what is in it.
    """

    jid: Jid
    folder: str
    name: str | None = None
    trigger: str | None = None
    assistant_name: str | None = None
    requires_trigger: bool = True
    is_main: bool = False
    trigger_position: str = "start"
    reply_triggers: bool = True
    timezone: str | None = None
    locale: str | None = None
    adopt: bool = False


CHANGEABLE: Final[Mapping[str, type]] = {
    "name": str,
    "trigger": str,
    "assistant_name": str,
    "requires_trigger": bool,
    "is_main": bool,
    "trigger_position": str,
    "reply_triggers": bool,
    "timezone": str,
    "locale": str,
}
"""What `change_group` takes, with the type of each."""
_IN_WORDS: Final[Mapping[type, str]] = {bool: "true or false", str: "a text"}


async def add_group(services: Services, caller: Caller, new: NewGroup) -> Group:
    """Register a chat and make its folder. Raises InvalidRequest, Conflict or Forbidden."""
    allow(caller, "manage_groups", Target(chat_jid=new.jid, group=None, is_registered=False))
    _columns(services, new)
    folder = GroupFolder(new.folder)
    await services.db.run(lambda tx: _refuse_taken(tx, folder, new))
    template = await asyncio.to_thread(partial(template_for, is_main=new.is_main))
    await asyncio.to_thread(
        create_group_folder,
        services.paths.groups,
        folder,
        template=template,
        adopt=new.adopt,
    )
    at = services.clock.now()
    return await services.db.run(lambda tx: store_group(tx, services, new, at=at))


def store_group(tx: Transaction, services: Services, new: NewGroup, *, at: datetime) -> Group:
    """Register a chat whose folder is the caller's to make. Raises InvalidRequest, Conflict."""
    values = _columns(services, new)
    folder = GroupFolder(new.folder)
    _refuse_taken(tx, folder, new)
    tx.wake(Topic.SNAPSHOTS)
    return groups.add(tx, folder=folder, jid=new.jid, name=values["name"], added_at=at, values=values)


async def list_groups(services: Services) -> list[Group]:
    """All groups in the order of their registration."""
    async with services.db.reader() as reader:
        return await groups.list_all(reader)


async def show_group(services: Services, folder: str) -> Group:
    """One group. Raises NotFound."""
    async with services.db.reader() as reader:
        group = await groups.find(reader, folder)
    if group is None:
        raise _no_such_group(folder)
    return group


async def change_group(
    services: Services, caller: Caller, folder: str, changes: Mapping[str, object]
) -> Group:
    """Change some of `CHANGEABLE`. Making a group main takes the right from the one before.

    Raises NotFound, or InvalidRequest that names all that is wrong; then nothing is changed.
    """
    allow(caller, "manage_groups", Target(chat_jid=None, group=GroupFolder(folder), is_registered=True))
    wrong: list[InvalidRequest] = []
    known: dict[str, Any] = {}
    for name, value in changes.items():
        with refusal_noted(wrong):
            known[name] = _checked_value(name, value)

    def body(tx: Transaction) -> Group:
        group = groups.by_folder(tx, folder)
        if group is None:
            raise _no_such_group(folder)
        faults = list(wrong)
        with refusal_noted(faults):
            _check_main(group, known)
        changed = replace(group, **known)
        with refusal_noted(faults):
            _check_group(changed)
        refuse_any(faults)
        tx.wake(Topic.SNAPSHOTS)
        return groups.change(tx, group.folder, groups.columns(changed))

    changed = await services.db.run(body)
    await services.control.close_chat(changed.jid)  # a running agent was started with what was before
    return changed


async def remove_group(services: Services, caller: Caller, folder: str) -> Group:
    """Forget a registration; folder and messages stay. The main group can't be removed."""
    allow(caller, "manage_groups", Target(chat_jid=None, group=GroupFolder(folder), is_registered=True))

    def body(tx: Transaction) -> Group:
        group = groups.by_folder(tx, folder)
        if group is None:
            raise _no_such_group(folder)
        if group.is_main:
            raise InvalidRequest(
                f"Group {folder!r} is main and can't be removed.",
                suggestion="Make another group main first: dovecote group set FOLDER is_main=true",
            )
        groups.remove(tx, group.folder)
        pause_tasks_of_gone_group(tx, group.folder, at=services.clock.now())
        tx.wake(Topic.SNAPSHOTS)
        return group

    removed = await services.db.run(body)
    await services.control.stop_chat(removed.jid)
    return removed


def _check_folder(name: str) -> None:
    if not is_folder_name(name):
        raise InvalidRequest(
            f"{name!r} can't be the folder of a group.",
            suggestion="Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit; "
            "global, errors and device names are taken.",
        )


def _check_chat(jid: str) -> None:
    if not is_chat_id(jid):
        raise InvalidRequest(
            f"{jid[:200]!r} is not the id of a chat.",
            suggestion="Give one such as console:main or 1203@g.us.",
        )


def _columns(services: Services, new: NewGroup) -> dict[str, Any]:
    """The row of a new group. Raises InvalidRequest that names all that is wrong."""
    wrong: list[InvalidRequest] = []
    assistant = services.settings.assistant
    assistant_name = clean_name(_given(new.assistant_name, assistant.name))
    position = TriggerPosition.START
    with refusal_noted(wrong):
        _check_folder(new.folder)
    with refusal_noted(wrong):
        _check_chat(new.jid)
    with refusal_noted(wrong):
        position = _position(new.trigger_position)
    with refusal_noted(wrong):
        if new.locale is not None:
            _check_locale(new.locale)
    group = Group(
        folder=GroupFolder(new.folder),
        jid=new.jid,
        name=clean_name(_given(new.name, new.folder)),
        trigger=_given(new.trigger, default_trigger(assistant_name)),
        assistant_name=assistant_name,
        requires_trigger=new.requires_trigger,
        is_main=new.is_main,
        trigger_position=position,
        reply_triggers=new.reply_triggers,
        timezone=new.timezone,
        locale=_given(new.locale, assistant.locale),
        added_at=services.clock.now(),
        number=0,
    )
    with refusal_noted(wrong):
        _check_group(group)
    refuse_any(wrong)
    return groups.columns(group)


def _check_main(group: Group, changes: Mapping[str, object]) -> None:
    if group.is_main and changes.get("is_main") is False:
        raise InvalidRequest(
            f"Group {group.folder!r} is main, and exactly one group is.",
            suggestion="Make another group main instead: dovecote group set FOLDER is_main=true",
        )


def _given(value: str | None, default: str) -> str:
    """An empty text is a value, to be refused: only None takes the default."""
    return default if value is None else value


def _check_locale(locale: str) -> None:
    if not knows_language(locale):
        raise InvalidRequest(
            f"There are no sentences in the language {locale!r}.",
            suggestion=f"Known ones: {', '.join(CATALOGUES)}.",
        )


def _check_group(group: Group) -> None:
    """A trigger that can't be compiled, a name without a letter and an unknown zone are refused here."""
    wrong: list[InvalidRequest] = []
    with refusal_noted(wrong):
        compile_trigger(group.trigger, assistant_name=group.assistant_name, position=group.trigger_position)
    if not group.name or not group.assistant_name:
        mend = "Give a name with at least one visible character."
        wrong.append(InvalidRequest("A name is empty.", suggestion=mend))
    if group.timezone is not None and not is_timezone(group.timezone):
        mend = "Give an IANA name such as Europe/Berlin."
        wrong.append(InvalidRequest(f"timezone {group.timezone!r} is not known.", suggestion=mend))
    refuse_any(wrong)


def _checked_value(name: str, value: object) -> object:
    """What the setting `name` of a group becomes. Raises InvalidRequest."""
    expected = CHANGEABLE.get(name)
    if expected is None:
        near = difflib.get_close_matches(name, CHANGEABLE, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise InvalidRequest(
            f"A group has no setting {name[:80]!r}.",
            suggestion=f"{meant}Known ones: {', '.join(CHANGEABLE)}.",
        )
    if not isinstance(value, expected) and not (name == "timezone" and value is None):
        raise InvalidRequest(f"{name} is {value!r}, but must be {_IN_WORDS[expected]}.")
    if name == "locale":
        _check_locale(str(value))
    return _position(str(value)) if name == "trigger_position" else value


def _position(name: str) -> TriggerPosition:
    try:
        return TriggerPosition(name)
    except ValueError:
        raise InvalidRequest(
            f"trigger_position {name!r} is not known.", suggestion="Use start or anywhere."
        ) from None


def _refuse_taken(tx: Transaction, folder: GroupFolder, new: NewGroup) -> None:
    if (taken := groups.by_folder(tx, folder)) is not None:
        raise Conflict(
            f"Folder {folder!r} belongs to group {taken.name!r} ({taken.jid}) already.",
            suggestion="Choose another folder.",
        )
    for jid in sorted(contacts.ids_of(tx, new.jid)):
        if (taken := groups.by_jid(tx, jid)) is not None:
            raise Conflict(
                f"Chat {new.jid} is registered already, as group {taken.folder!r}.",
                suggestion=f"Change that one: dovecote group set {taken.folder} …",
            )
    if new.is_main and (taken := groups.main(tx)) is not None:
        raise Conflict(
            f"Group {taken.folder!r} is main already, and exactly one group is.",
            suggestion="Add this one without main; then: dovecote group set FOLDER is_main=true",
        )


def _no_such_group(folder: str) -> NotFound:
    return NotFound(f"There is no group {folder!r}.", suggestion="See them all: dovecote group list")
