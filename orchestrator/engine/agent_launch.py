"""What an agent is started with: its places, its walls and its input."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.snapshots import BoxSnapshots
from orchestrator.contracts.ids import AgentId, TreeId, TurnId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import AgentPlaces, LaunchPlan, ResourceLimits
from orchestrator.contracts.wire.container_io import AgentDefinition, ContainerInput
from orchestrator.core.agents.launch_plan import plan_launch
from orchestrator.core.chat.transcript import render_prompt
from orchestrator.core.chat.trigger import plain_word
from orchestrator.core.text_cleaning import cap_text
from orchestrator.engine.work import FirstInput
from orchestrator.store.group_files import give_home, give_workspace, read_instructions

_MAX_INSTRUCTIONS_BYTES: Final = 64 * 1024
_GLOBAL: Final = "global"
_LABEL_DEADLINE: Final = timedelta(days=1)
"""What a container's label says: whoever finds one older than this has found a forgotten one."""
DRIVERS_WITHOUT_A_MODEL: Final = frozenset({"builtin", "script"})
"""They run no commands that a model thought of, so they may run without walls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an agent is to the host. uid: None where all agents are the orchestrator's own user."""

    agent_id: AgentId
    tree_id: TreeId
    uid: int | None


def identity_for(services: Services, group: Group, agent_id: AgentId) -> Identity:
    """A root host gives each group a user of its own, so that no group can touch another's files."""
    uid = services.settings.agent.uid_range_start + group.number if os.geteuid() == 0 else None
    return Identity(agent_id=agent_id, tree_id=TreeId(agent_id.replace("agent-", "tree-", 1)), uid=uid)


async def prepare_places(services: Services, group: Group, identity: Identity, box: str) -> AgentPlaces:
    """Make what the agent's mounts need: its workspace, its session home, the shared workspace."""
    paths = services.paths
    home = paths.sessions / group.folder / services.settings.agent.driver

    def prepare() -> AgentPlaces:
        workspace = give_workspace(paths.groups, group.folder, uid=identity.uid, gid=identity.uid)
        shared = paths.groups / _GLOBAL / "workspace"
        shared.mkdir(mode=0o755, parents=True, exist_ok=True)
        give_home(home, uid=identity.uid, gid=identity.uid)
        return AgentPlaces(workspace=workspace, shared=shared, box=Path(box), home=home)

    return await asyncio.to_thread(prepare)


def plan_for_group(
    services: Services,
    group: Group,
    identity: Identity,
    places: AgentPlaces,
    *,
    instance_id: str,
    command: Sequence[str],
) -> LaunchPlan:
    """The walls and limits of this group's agent."""
    wanted = services.settings.agent
    return plan_launch(
        group=group,
        agent_id=identity.agent_id,
        instance_id=instance_id,
        places=places,
        limits=ResourceLimits(memory_bytes=wanted.memory_bytes, processes=wanted.processes, cpus=wanted.cpus),
        timezone=services.settings.assistant.timezone,
        uid=identity.uid,
        gid=identity.uid,
        image=wanted.image,
        command=command,
        deadline=services.clock.now() + _LABEL_DEADLINE,
        runs_model_commands=wanted.driver not in DRIVERS_WITHOUT_A_MODEL,
    )


async def container_input(
    services: Services,
    group: Group,
    identity: Identity,
    given: FirstInput,
    snapshots: BoxSnapshots,
    *,
    turn_id: TurnId,
) -> ContainerInput:
    """What the agent reads on standard input, in both spellings. Source: contracts.md section 1."""
    instructions = await asyncio.to_thread(_instructions, services.paths.groups, group)
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
        is_main=group.is_main,
        turn_id=turn_id,
        session_id=given.session_id,
        tasks_snapshot=snapshots.tasks,
        groups_snapshot=snapshots.groups,
        is_task=given.task_prompt is not None,
        is_scheduled_task=given.task_prompt is not None,
        task_context=given.task_prompt,
        agent=AgentDefinition(
            driver=services.settings.agent.driver,
            instructions=instructions,
            options=_options(group),
        ),
        timezone=group.timezone or services.settings.assistant.timezone,
        locale=group.locale,
    )


def _options(group: Group) -> dict[str, str]:
    """How the assistant is called, so that the driver `builtin` can take the address out of a text."""
    word = plain_word(group.trigger, assistant_name=group.assistant_name)
    return {"trigger_position": group.trigger_position.value} | ({} if word is None else {"trigger": word})


def _instructions(groups: Path, group: Group) -> str:
    """The operator's texts, for all groups and for this one."""
    texts = [read_instructions(groups, folder) for folder in (_GLOBAL, group.folder)]
    return cap_text("\n\n".join(text for text in texts if text), _MAX_INSTRUCTIONS_BYTES)
