"""What a child may do: never more than its parent. Source: agents.md section 2."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Final

from orchestrator.contracts.records.agents import SpawnPermissions
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.spawns import WishedPermissions
from orchestrator.contracts.wire.tools import (
    CHAT_TOOLS,
    GROUP_TOOLS,
    PROGRESS_TOOLS,
    SPAWN_TOOLS,
    TASK_TOOLS,
)

USUAL: Final = SpawnPermissions(can_spawn=True, chat=False, inherit_github_token=False, detach=False)
"""What a child is allowed of what its parent may, where nobody says otherwise."""
_OF_THE_CHAT: Final = frozenset({CHAT_TOOLS, TASK_TOOLS, GROUP_TOOLS})


def permissions_of_root(definition: Definition | None) -> SpawnPermissions:
    """Those of a group's own agent: all but to hand down what it does not have. None: it does not start."""
    return SpawnPermissions(inherit_github_token=definition is not None and definition.github is not None)


def narrow(parent: SpawnPermissions, wished: WishedPermissions) -> SpawnPermissions:
    """The child's: what is wished, else what is usual, of what the parent has."""
    chosen = {}
    for field in fields(SpawnPermissions):
        wish = getattr(wished, field.name)
        wants = getattr(USUAL, field.name) if wish is None else wish
        chosen[field.name] = wants and getattr(parent, field.name)
    return SpawnPermissions(**chosen)


def beyond(parent: SpawnPermissions, wished: WishedPermissions) -> tuple[str, ...]:
    """The names of what is wished for in so many words and the parent does not have."""
    names = [field.name for field in fields(SpawnPermissions)]
    return tuple(name for name in names if getattr(wished, name) and not getattr(parent, name))


def toolsets_of(tools: Iterable[str], may: SpawnPermissions) -> tuple[str, ...]:
    """What a spawned agent is offered of its group's toolsets: those that would not be refused anyhow.

    Whoever started it may want to see how far it is, so that it can always tell.
    """
    refused = {*(() if may.chat else _OF_THE_CHAT), *(() if may.can_spawn else (SPAWN_TOOLS,))}
    return (*(each for each in tools if each not in refused), PROGRESS_TOOLS)
