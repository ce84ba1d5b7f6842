"""Which directories of this machine spawned agents may be given: proposed by programs, allowed by operators.

What is removed or rejected is taken from nobody who has it; it is given to nobody any more. Source:
agents.md section 2, `manage_config` of seed 000's implementation.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from orchestrator.commands.agents.event_views import utc_ms
from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.spawning.spawn_places import settings_roots, why_no_workspace
from orchestrator.contracts.callers import AgentCaller, AnyCaller, HostCaller, KeyCaller
from orchestrator.contracts.errors import (
    DovecoteError,
    ErrorCode,
    Forbidden,
    InvalidRequest,
    LimitExceeded,
    NotFound,
)
from orchestrator.contracts.records.spawns import RootStatus, WorkspaceRoot
from orchestrator.contracts.records.tokens import Scope
from orchestrator.core.authority import Target, allow
from orchestrator.core.sandbox.mount_rules import doubt_about
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.machine import IllegalMove
from orchestrator.core.states.workspace_root import WORKSPACE_ROOT, RootEvent
from orchestrator.store import workspace_roots
from orchestrator.store.mount_sources import resolved_directory
from orchestrator.store.transaction import Transaction

MAX_PROPOSED: Final = 20
"""No more wait for an operator at once."""
SETTINGS: Final = "settings"
"""Where a directory stands that is allowed by `workspaces.roots`."""


async def list_workspaces(services: Services) -> list[Mapping[str, object]]:
    """The directories of the settings, then those that were proposed, with what became of each."""
    fixed = await asyncio.to_thread(settings_roots, services)
    async with services.db.reader() as reader:
        known = await workspace_roots.listed(reader)
    shown = [{"path": path, "status": RootStatus.APPROVED.value, "origin": SETTINGS} for path in fixed]
    return [*shown, *(_view(root) for root in known if root.path not in fixed)]


async def propose_workspace(services: Services, caller: AnyCaller, path: str) -> Mapping[str, object]:
    """Ask the operators that agents may be given a directory; asked twice is asked once.

    Raises InvalidRequest, Forbidden for what no agent is ever given, LimitExceeded.
    """
    found = await asyncio.to_thread(_checked, services, path)
    at, by = services.clock.now(), _who(caller)

    def body(tx: Transaction) -> WorkspaceRoot:
        known = workspace_roots.get(tx, found)
        is_open = known is not None and known.status is not RootStatus.REJECTED
        if not is_open and workspace_roots.count_proposed(tx) >= MAX_PROPOSED:
            raise LimitExceeded(
                f"{MAX_PROPOSED} directories wait for an operator, which is the most.",
                suggestion="Wait until he has answered, or remove some.",
            )
        if workspace_roots.propose(tx, found, by=by, status=WORKSPACE_ROOT.start, at=at):
            tell_operators(
                tx,
                services,
                what=Say.WORKSPACE_ASKED,
                incident=f"workspace:{found}:{at.timestamp():.3f}",
                at=at,
                who=by,
                path=found,
            )
        return _stored(tx, found)

    return _view(await services.db.run(body))


async def approve_workspace(services: Services, caller: AnyCaller, path: str) -> Mapping[str, object]:
    """Let agents be given a directory from now on, with all below it; one that nobody proposed, too.

    What the operator should know about it is its `warning`. Raises Forbidden, InvalidRequest.
    """
    _check_operator(caller)
    found = await asyncio.to_thread(_checked, services, path)
    at = services.clock.now()

    def body(tx: Transaction) -> WorkspaceRoot:
        # A new wish, if it is unknown or was turned down.
        workspace_roots.propose(tx, found, by=_who(caller), status=WORKSPACE_ROOT.start, at=at)
        return _moved(tx, _stored(tx, found), RootEvent.APPROVED, at=at)

    view, doubt = _view(await services.db.run(body)), doubt_about(found)
    return view if doubt is None else {**view, "warning": f"{found} {doubt}."}


async def reject_workspace(services: Services, caller: AnyCaller, path: str) -> Mapping[str, object]:
    """Let no agent be given a directory that was proposed or allowed. Raises Forbidden, NotFound."""
    _check_operator(caller)
    await _check_not_fixed(services, path)
    at = services.clock.now()
    moved = await services.db.run(lambda tx: _moved(tx, _stored(tx, path), RootEvent.REJECTED, at=at))
    return _view(moved)


async def remove_workspace(services: Services, caller: AnyCaller, path: str) -> Mapping[str, object]:
    """Forget a directory, allowed or not. Raises Forbidden, NotFound."""
    _check_operator(caller)
    await _check_not_fixed(services, path)

    def body(tx: Transaction) -> WorkspaceRoot:
        root = _stored(tx, path)
        workspace_roots.remove(tx, path)
        return root

    return {**_view(await services.db.run(body)), "status": "removed"}


def _moved(tx: Transaction, root: WorkspaceRoot, event: RootEvent, *, at: datetime) -> WorkspaceRoot:
    """The same again changes nothing."""
    try:
        now = WORKSPACE_ROOT.after(root.status, event)
    except IllegalMove:
        return root
    workspace_roots.move(tx, root, now=now, at=at)
    return _stored(tx, root.path)


def _stored(tx: Transaction, path: str) -> WorkspaceRoot:
    root = workspace_roots.get(tx, path)
    if root is None:
        raise NotFound(
            f"The directory {path!r} is not in the list.",
            suggestion="See what is, by its whole path: dovecote workspace list",
        )
    return root


def _checked(services: Services, path: str) -> str:
    """The directory without links, if agents may be given it at all. Blocks."""
    if not path.startswith("/") or not path.isprintable():
        raise _invalid(path, "is not absolute")
    resolved, is_directory = resolved_directory(path)
    if resolved is None or not is_directory:
        raise _invalid(path, "is no directory")
    why = why_no_workspace(services.paths, resolved)
    if why is not None:
        raise Forbidden(
            f"The directory {path!r} {why}.",
            code=ErrorCode.WORKSPACE_NOT_ALLOWED,
            suggestion="Choose another directory, such as one that holds only what is worked on.",
        )
    return resolved


async def _check_not_fixed(services: Services, path: str) -> None:
    if path in await asyncio.to_thread(settings_roots, services):
        raise InvalidRequest(
            f"The directory {path!r} is allowed by the setting workspaces.roots.",
            suggestion="Take it out of dovecote.toml and start again.",
        )


def _check_operator(caller: AnyCaller) -> None:
    """A program that may manage acts for the operator."""
    if isinstance(caller, KeyCaller):
        check_scope(caller, Scope.MANAGE)
    else:
        allow(caller, "manage_workspaces", Target(chat_jid=None, group=None, is_registered=True))


def _who(caller: AnyCaller) -> str:
    match caller:
        case AgentCaller():
            return f"agent {caller.agent_id}"
        case KeyCaller():
            return f"program {caller.name}"
        case HostCaller():
            return "dovecote"
        case _:
            return "operator"


def _invalid(path: str, why: str) -> DovecoteError:
    return InvalidRequest(
        f"{path[:200]!r} {why}.",
        code=ErrorCode.INVALID_WORKSPACE,
        suggestion="Give the whole path of a directory that is there.",
    )


def _view(root: WorkspaceRoot) -> Mapping[str, object]:
    return {
        "path": root.path,
        "status": root.status.value,
        "origin": root.proposed_by,
        "proposedAt": utc_ms(root.proposed_at),
        "decidedAt": None if root.decided_at is None else utc_ms(root.decided_at),
    }
