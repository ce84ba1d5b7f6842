"""What an agent may do about groups: have a chat registered, have the chats looked up again.

Source: contracts.md section 4.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from orchestrator.store.times import shown_at
from orchestrator.commands.command import Command, Context
from orchestrator.commands.groups.groups import NewGroup, store_group
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller
from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.contracts.ids import GroupFolder, is_folder_name
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.group_requests import RefreshGroups, RegisterGroup
from orchestrator.core.authority import Target
from orchestrator.shipped import template_for
from orchestrator.store import facts, groups
from orchestrator.store.transaction import Transaction
from orchestrator.store.group_folders import check_folder_is_free, create_group_folder, group_workspace

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedGroup:
    """A wish to register a chat. refusal: why its folder can't be made; None if it can."""

    request: RegisterGroup
    refusal: DovecoteError | None


async def prepare_group(services: Services, caller: Caller, request: RegisterGroup) -> PreparedGroup:
    """Look whether the folder is free."""
    refusal: DovecoteError | None = None
    if is_folder_name(request.folder):
        try:
            folder = GroupFolder(request.folder)
            await asyncio.to_thread(check_folder_is_free, services.paths.groups, folder)
        except DovecoteError as error:
            refusal = error
    return PreparedGroup(request=request, refusal=refusal)


def register_group(tx: Transaction, context: Context, prepared: PreparedGroup) -> Mapping[str, object]:
    """Register a chat; it never becomes main. Raises InvalidRequest, Conflict."""
    request = prepared.request
    new = NewGroup(
        jid=request.jid,
        folder=request.folder,
        name=request.name,
        trigger=request.trigger_pattern,
        assistant_name=request.assistant_name,
        requires_trigger=request.requires_trigger,
    )
    group = store_group(tx, context.services, new, at=context.at)
    # After the store's own word: of a group that is there people hear its name, not that of a directory.
    if prepared.refusal is not None:
        raise prepared.refusal
    return {
        "jid": group.jid,
        "folder": group.folder,
        "name": group.name,
        "trigger": group.trigger,
        "requiresTrigger": group.requires_trigger,
        "assistantName": group.assistant_name,
    }


async def make_folder(services: Services, result: Mapping[str, object]) -> None:
    """The folder of a group that was just registered, with its `AGENT.md`. Raises Unavailable."""
    await _make_folder(services, GroupFolder(str(result["folder"])), is_main=False)


async def make_missing_folders(services: Services) -> None:
    """At a start: of groups that were registered when an earlier process ended, or whose folders are gone."""
    async with services.db.reader() as reader:
        known = await groups.list_all(reader)

    def missing() -> list[Group]:
        lies = partial(group_workspace, services.paths.groups)
        return [group for group in known if not os.path.lexists(lies(group.folder))]

    for group in await asyncio.to_thread(missing):
        try:
            await _make_folder(services, group.folder, is_main=group.is_main)
        except Unavailable as error:  # a start of its agent tries again
            _log.error("group.folder_not_made", group=group.folder, error=error.message)


async def _make_folder(services: Services, folder: GroupFolder, *, is_main: bool) -> None:
    template = await asyncio.to_thread(partial(template_for, is_main=is_main))
    make = partial(create_group_folder, services.paths.groups, folder, template=template, adopt=True)
    try:
        await asyncio.to_thread(make)
    except Unavailable:
        raise
    except DovecoteError as error:  # something stepped in the way since: a start of its agent says so, too
        _log.error("group.folder_not_made", group=folder, error=error.message, suggestion=error.suggestion)


def refresh_groups(tx: Transaction, context: Context, request: RefreshGroups) -> Mapping[str, object]:
    """Have the channels asked which group chats there are; the snapshot follows."""
    tx.wake(Topic.CHATS)
    last = facts.last_sync(tx)
    return {"status": "asked", "lastSync": shown_at(last)}


def _register_target(tx: Transaction, request: RegisterGroup) -> Target:
    is_known = groups.by_jid(tx, request.jid) is not None
    return Target(chat_jid=request.jid, group=request.group_folder, is_registered=is_known)


def _refresh_target(tx: Transaction, request: RefreshGroups) -> Target:
    return Target(chat_jid=None, group=request.group_folder, is_registered=True)


COMMANDS: Final = (
    Command(
        request=RegisterGroup,
        name="register_group",
        target=_register_target,
        prepare=prepare_group,
        run=register_group,
        finish=make_folder,
        takes_long=lambda request: True,
    ),
    Command(request=RefreshGroups, name="refresh_groups", target=_refresh_target, run=refresh_groups),
)
"""The requests of this area."""
