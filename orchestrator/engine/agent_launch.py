"""What an agent is started with: its directories, its launch plan and the input on its stdin."""

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from orchestrator.commands.groups.snapshots import BoxSnapshots
from orchestrator.commands.services import Services
from orchestrator.commands.setup.definitions import GLOBAL
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import BoxName, TurnId
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import SCRATCH_TARGET, AgentPlaces, LaunchPlan, ResourceLimits
from orchestrator.contracts.records.spawns import SpawnedAgent
from orchestrator.contracts.wire.container_io import ContainerInput
from orchestrator.core.agents.definition import DRIVERS_WITHOUT_A_MODEL
from orchestrator.core.agents.environment import build_environment, inherited_by
from orchestrator.core.agents.launch_plan import plan_launch
from orchestrator.core.chat.transcript import render_prompt
from orchestrator.core.chat.trigger import plain_word
from orchestrator.engine.identity import Identity
from orchestrator.engine.program_launch import (
    egress_mounts,
    extra_mounts,
    lay_recipe,
    program_run,
    recipe_of,
    wire_definition,
)
from orchestrator.engine.session_homes import session_home
from orchestrator.engine.way_out import WayOut
from orchestrator.engine.work import FirstInput
from orchestrator.settings.tree import Settings
from orchestrator.shipped import template_for
from orchestrator.store.group_files import give_home, give_workspace
from orchestrator.store.group_folders import create_group_folder, group_workspace

_LABEL_DEADLINE: Final = timedelta(days=1)
"""What a container's label says: whoever finds one older than this has found a forgotten one."""


async def prepare_places(
    services: Services,
    group: Group,
    identity: Identity,
    box: BoxName,
    box_path: str,
    definition: Definition,
) -> AgentPlaces:
    """Make what the agent's mounts need: its workspace, its session home, the shared workspace."""
    paths = services.paths
    home = session_home(paths, group.folder, box, definition.provider)

    def prepare() -> AgentPlaces:
        if not os.path.lexists(group_workspace(paths.groups, group.folder)):
            _make_folder(paths.groups, group, uid=identity.uid)
        workspace = give_workspace(paths.groups, group.folder, uid=identity.uid, gid=identity.uid)
        shared = paths.groups / GLOBAL / "workspace"
        shared.mkdir(mode=0o755, parents=True, exist_ok=True)
        give_home(home, uid=identity.uid, gid=identity.uid)
        return AgentPlaces(workspace=workspace, shared=shared, box=Path(box_path), home=home)

    return await asyncio.to_thread(prepare)


def _make_folder(groups: Path, group: Group, *, uid: int | None) -> None:
    """A folder that is gone, or never quite came to be, with the text of a new one. Raises OSError."""
    template = template_for(is_main=group.is_main)
    try:
        create_group_folder(groups, group.folder, template=template, uid=uid, gid=uid, adopt=True)
    except DovecoteError as error:
        raise OSError(error.message) from error


async def plan_for_group(
    services: Services,
    group: Group,
    identity: Identity,
    places: AgentPlaces,
    definition: Definition,
    way_out: WayOut | None,
    *,
    instance_id: str,
    command: Sequence[str],
    has_walls: bool,
) -> LaunchPlan:
    """The walls and limits of this group's agent; the files of its recipe are laid by then."""
    wanted, provider = services.settings.agent, definition.provider
    run = program_run(identity, places, way_out, has_walls=has_walls)
    runs_a_model = provider.driver not in DRIVERS_WITHOUT_A_MODEL
    recipe = recipe_of(definition, run)
    laid = await asyncio.to_thread(lay_recipe, services.paths, definition, recipe, places, identity.uid)
    memory_bytes = max(wanted.memory_bytes, provider.memory_bytes or 0)
    ours = dict(os.environ) if runs_a_model and not has_walls else None
    return plan_launch(
        group=group,
        agent_id=identity.agent_id,
        instance_id=instance_id,
        places=places,
        limits=ResourceLimits(memory_bytes=memory_bytes, processes=wanted.processes, cpus=wanted.cpus),
        timezone=services.settings.assistant.timezone,
        uid=identity.uid,
        gid=identity.uid,
        image=wanted.image,
        command=command,
        deadline=services.clock.now() + _LABEL_DEADLINE,
        runs_model_commands=runs_a_model,
        program=provider.program,
        toolsets=definition.tools,
        inherited=None if ours is None else inherited_by(definition, ours),
        variables=build_environment(definition, run, recipe, ours) | _scratch_variable(places),
        more_mounts=(*laid, *extra_mounts(definition), *egress_mounts(way_out)),
    )


def container_input(
    services: Services,
    group: Group,
    identity: Identity,
    given: FirstInput,
    snapshots: BoxSnapshots,
    definition: Definition,
    *,
    turn_id: TurnId,
    has_walls: bool,
    spawned: SpawnedAgent | None = None,
) -> ContainerInput:
    """What the agent reads on standard input, in both spellings. Source: contracts.md section 1."""
    return ContainerInput(
        messages=given.xml,
        prompt=render_prompt(given.xml),
        inputs=given.ids,
        triggers=given.trigger_ids,
        group_folder=group.folder,
        chat_jid=group.jid,
        assistant_name=group.assistant_name,
        agent_id=identity.agent_id,
        tree_id=identity.tree_id,
        parent_agent_id=None if spawned is None else spawned.agent.parent_agent_id,
        depth=0 if spawned is None else spawned.agent.depth,
        is_main=group.is_main if spawned is None else spawned.agent.is_main,
        turn_id=turn_id,
        session_id=given.session_id,
        tasks_snapshot=snapshots.tasks,
        groups_snapshot=snapshots.groups,
        is_task=given.task_prompt is not None,
        is_scheduled_task=given.task_prompt is not None,
        task_context=given.task_prompt,
        agent=wire_definition(definition, options=_options(services.settings, group), has_walls=has_walls),
        timezone=group.timezone or services.settings.assistant.timezone,
        locale=definition.locale or group.locale,
    )


def _scratch_variable(places: AgentPlaces) -> dict[str, str]:
    return {} if places.scratch is None else {"DOVECOTE_SCRATCH": SCRATCH_TARGET}


def _options(settings: Settings, group: Group) -> dict[str, object]:
    """The bounds of programs, and how the assistant is called: the driver `builtin` takes that out of it."""
    word = plain_word(group.trigger, assistant_name=group.assistant_name)
    programs = settings.programs
    bounds: dict[str, object] = {
        "answer_s": programs.answer_s,
        "session_bytes": programs.session_bytes,
        "kept_sessions": programs.kept_sessions,
        "kept_bytes": programs.kept_session_bytes,
    }
    position = {"trigger_position": group.trigger_position.value}
    return bounds | position | ({} if word is None else {"trigger": word})
