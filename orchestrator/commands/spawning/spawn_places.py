"""What a wish for a spawn names of the host: the workspace, and what may be written there.

Looked up outside of the store; what is allowed by the operator's list is the transaction's to say.
Source: agents.md section 2.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import DovecoteError, ErrorCode, Forbidden, InvalidRequest
from orchestrator.contracts.ids import AgentId
from orchestrator.core.agents.spawn_paths import is_within, without_inner
from orchestrator.core.sandbox.mount_rules import Protected, why_never
from orchestrator.paths import Paths
from orchestrator.store import agents, spawns
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.mount_sources import resolved_directory
from orchestrator.store.spawn_places import find_below, make_workspace
from orchestrator.store.transaction import Transaction

_OWN: Final = "."

_NO_HOMES: Final = Protected(home="\0", operator_home="\0")
"""For what a path alone tells: where the homes are is nothing that agents find out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceWish:
    """What a spawn names. named: the workspace as it was written; below: its part below the parent's, if it
    is there; writable: relative to it."""

    agent_id: AgentId
    named: str | None
    below: str | None
    writable: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentPlace:
    """Where the parent works. writable: relative; None: all of it. is_to_be: it is the parent's own, who has
    not ended, so it is there from its start on if not yet."""

    workspace: str
    writable: tuple[str, ...] | None
    is_to_be: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnPlaces:
    """What was found. workspace: on the host, without links. is_own: it is made for this agent alone.

    is_foreign: it is neither that nor the parent's, so it must be within a root. roots: those of the
    settings, without links. refusal: why it can't be used, said only of what is within a root. never: why its
    path, as it is written, can be in no list, whatever lies there; None: it may be.
    """

    workspace: str
    is_own: bool = False
    is_foreign: bool = False
    writable_paths: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    never: str | None = None
    refusal: DovecoteError | None = None


def parent_place(tx: Transaction, services: Services, parent_id: AgentId | None) -> ParentPlace | None:
    """Where the parent works; None if there is none."""
    parent = None if parent_id is None else agents.get(tx, parent_id)
    if parent is None:
        return None
    spawn = spawns.get(tx, parent.agent_id)
    if spawn is None:
        lies = group_workspace(services.paths.groups, parent.group)
        return ParentPlace(workspace=str(lies), writable=None)
    owns_it = spawn.is_own_workspace and not spawn.writable_paths
    return ParentPlace(
        workspace=spawn.workspace,
        writable=None if owns_it else spawn.writable_paths,
        is_to_be=spawn.is_own_workspace and parent.ended_at is None,
    )


def find_places(services: Services, wish: PlaceWish, parent: ParentPlace | None) -> SpawnPlaces:
    """The paths as they lie on the disk now. Blocks. Raises Unavailable, nothing for what lies there."""
    if parent is None and wish.named is None:
        own = str(services.paths.workspaces / wish.agent_id)
        return SpawnPlaces(workspace=own, is_own=True, writable_paths=without_inner(wish.writable))
    if parent is not None and parent.is_to_be:
        make_workspace(parent.workspace)
    try:
        if parent is not None and (wish.named is None or wish.below is not None):
            return _in_parent(wish, parent)
    except DovecoteError as error:
        return SpawnPlaces(workspace="", refusal=error)
    return _elsewhere(services, wish, parent)


def settings_roots(services: Services) -> tuple[str, ...]:
    """The directories of `workspaces.roots` that are there and may be given, without links. Blocks."""
    found = (resolved_directory(root) for root in services.settings.workspaces.roots)
    return tuple(
        resolved
        for resolved, is_directory in found
        if resolved is not None and is_directory and why_no_workspace(services.paths, resolved) is None
    )


def why_no_workspace(paths: Paths, path: str) -> str | None:
    """Why a directory is nothing that agents may be given, whoever allows it. Blocks."""
    protected = Protected(
        home=os.path.realpath(paths.home), operator_home=os.path.realpath(os.path.expanduser("~"))
    )
    return why_never(path, protected)


def _in_parent(wish: PlaceWish, parent: ParentPlace) -> SpawnPlaces:
    top = _directory(parent.workspace)
    workspace = top if wish.below in (None, _OWN) else _directory_below(top, str(wish.below))
    writable = _writable(workspace, wish.writable)
    _check_parent_may_write(workspace, writable, top, parent)
    return SpawnPlaces(workspace=workspace, writable_paths=writable)


def _elsewhere(services: Services, wish: PlaceWish, parent: ParentPlace | None) -> SpawnPlaces:
    """A directory of the host. Whether anything is there, only who may have it finds out."""
    named = wish.named or ""
    never = why_never(os.path.normpath(named), _NO_HOMES)
    roots = settings_roots(services)
    resolved, is_directory = resolved_directory(named)
    workspace = resolved or os.path.normpath(named)
    top = None if parent is None else resolved_directory(parent.workspace)[0]
    try:
        if not is_directory:
            raise _no_workspace(named)
        if parent is not None and top is not None and is_within(workspace, top):
            writable = _writable(workspace, wish.writable)
            _check_parent_may_write(workspace, writable, top, parent)
            return SpawnPlaces(workspace=workspace, writable_paths=writable)
        if (why := why_no_workspace(services.paths, workspace)) is not None:
            raise Forbidden(
                f"The workspace {named!r} {why}.",
                code=ErrorCode.WORKSPACE_NOT_ALLOWED,
                suggestion="Choose another directory.",
            )
        writable = _writable(workspace, wish.writable)
    except DovecoteError as error:
        return SpawnPlaces(workspace=workspace, is_foreign=True, roots=roots, refusal=error, never=never)
    return SpawnPlaces(workspace=workspace, is_foreign=True, roots=roots, writable_paths=writable)


def _writable(workspace: str, words: tuple[str, ...]) -> tuple[str, ...]:
    return without_inner(tuple(find_below(workspace, path) for path in words))


def _check_parent_may_write(workspace: str, writable: tuple[str, ...], top: str, parent: ParentPlace) -> None:
    """A child writes nothing that its parent may not."""
    if parent.writable is None:
        return
    allowed = [f"{top}/{path}" for path in parent.writable]
    for path in writable:
        place = f"{workspace}/{path}"
        if not any(place == each or (each.endswith("/") and place.startswith(each)) for each in allowed):
            raise Forbidden(
                f"The parent may not write {path!r} itself.",
                code=ErrorCode.WORKSPACE_NOT_ALLOWED,
                suggestion="Name paths among the parent's own writable paths.",
            )


def _directory_below(workspace: str, words: str) -> str:
    found = find_below(workspace, words)
    place = str(Path(workspace, found))
    if not found.endswith("/") or resolved_directory(place) != (place, True):
        raise _no_workspace(words)
    return place


def _directory(path: str) -> str:
    resolved, is_directory = resolved_directory(path)
    if resolved is None or not is_directory:
        raise _no_workspace(path)
    return resolved


def _no_workspace(path: str) -> InvalidRequest:
    return InvalidRequest(
        f"The workspace {path!r} is no directory.",
        code=ErrorCode.INVALID_WORKSPACE,
        suggestion="Name a directory that is there, or leave workspacePath out.",
    )
