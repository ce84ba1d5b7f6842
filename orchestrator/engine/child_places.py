"""The directories that a spawned agent works in, and its definition, narrowed.

Its parent's workspace is read-only, with what it may write over it; scratch and home are its own.
Source: agents.md section 2.
"""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.setup.definitions import GLOBAL
from orchestrator.contracts.ids import own_box
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import AgentPlaces
from orchestrator.contracts.records.spawns import SpawnedAgent, SpawnRecord
from orchestrator.core.agents.rights import toolsets_of
from orchestrator.core.agents.start_prompt import child_prompt
from orchestrator.engine.identity import Identity
from orchestrator.engine.session_homes import session_home
from orchestrator.paths import Paths
from orchestrator.store.group_files import give_home
from orchestrator.store.writable_paths import make_writable_paths

_ROOT: Final = Path("/")


async def prepare_child_places(
    services: Services,
    group: Group,
    spawned: SpawnedAgent,
    identity: Identity,
    box_path: str,
    definition: Definition,
) -> AgentPlaces:
    """Make what its mounts need. Raises OSError, and InvalidRequest for a path that can't be written."""
    paths, agent_id, uid = services.paths, spawned.agent.agent_id, identity.uid
    spawn, box = spawned.spawn, own_box(spawned.agent.agent_id)
    home = session_home(paths, group.folder, box, definition.provider)
    scratch = paths.workspaces / box

    def prepare() -> AgentPlaces:
        if spawn.workspace == own_workspace(paths, spawned):
            give_home(paths.workspaces / agent_id, uid=uid, gid=uid)
        for place in (scratch, home):
            give_home(place, uid=uid, gid=uid)
        shared = paths.groups / GLOBAL / "workspace"
        shared.mkdir(mode=0o755, parents=True, exist_ok=True)
        workspace = Path(spawn.workspace)
        return AgentPlaces(
            workspace=workspace,
            shared=shared,
            box=Path(box_path),
            home=home,
            scratch=scratch,
            beneath=_beneath(paths, spawn),
            is_workspace_writable=spawn.is_own_workspace and not spawn.writable_paths,
            writable=make_writable_paths(workspace, spawn.writable_paths, uid=uid, gid=uid),
        )

    return await asyncio.to_thread(prepare)


def own_workspace(paths: Paths, spawned: SpawnedAgent) -> str:
    """Where the files of an agent lie that was started with no workspace of anybody else's."""
    return str(paths.workspaces / spawned.agent.agent_id)


def child_definition(definition: Definition, spawned: SpawnedAgent | None) -> Definition:
    """The group's definition, less what a spawned agent may not: never more than its parent had."""
    if spawned is None:
        return definition
    tools = toolsets_of(definition.tools, spawned.agent.permissions)
    extras = tuple(replace(each, is_writable=False) for each in definition.extra_directories)
    spawn = spawned.spawn
    instructions = child_prompt(
        definition.instructions,
        tools=tools,
        writable_paths=spawn.writable_paths,
        writes_all=spawn.is_own_workspace and not spawn.writable_paths,
    )
    github = definition.github if spawned.agent.permissions.inherit_github_token else None
    return replace(
        definition, tools=tools, extra_directories=extras, instructions=instructions, github=github
    )


def _beneath(paths: Paths, spawn: SpawnRecord) -> Path | None:
    """Other agents may write around this workspace, so its path, which has no links, is walked as it is."""
    return None if Path(spawn.workspace).parent == paths.workspaces else _ROOT
