"""Which walls, places and limits a group's agent gets: one value that every runner renders."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import (
    AGENT_RUNNER_COMMAND,
    BOX_TARGET,
    GLOBAL_TARGET,
    HOME_TARGET,
    SCRATCH_TARGET,
    WORKSPACE_TARGET,
    AgentPlaces,
    LaunchPlan,
    Mount,
    ResourceLimits,
)
from orchestrator.contracts.wire.boxes import WRITABLE_DIRECTORIES
from orchestrator.contracts.wire.tools import CHAT_TOOLS, TASK_TOOLS
from orchestrator.core.agents.environment import agent_environment


def plan_launch(
    *,
    group: Group,
    agent_id: AgentId,
    instance_id: str,
    places: AgentPlaces,
    limits: ResourceLimits,
    timezone: str,
    uid: int | None = None,
    gid: int | None = None,
    image: str | None = None,
    deadline: datetime | None = None,
    command: Sequence[str] = AGENT_RUNNER_COMMAND,
    runs_model_commands: bool = False,
    program: str | None = None,
    inherited: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    more_mounts: Sequence[Mount] = (),
    toolsets: Sequence[str] = (CHAT_TOOLS, TASK_TOOLS),
) -> LaunchPlan:
    """How to start the agent that holds the chat of `group`.

    timezone: used where the group has none of its own. inherited: of our own environment, without walls.
    variables, more_mounts: what its definition adds.
    Source: design.md section 7.
    """
    return LaunchPlan(
        agent_id=agent_id,
        instance_id=instance_id,
        group=group.folder,
        command=tuple(command),
        mounts=(*agent_mounts(places), *more_mounts),
        environment=dict(inherited or {})
        | agent_environment(
            group=group.folder,
            chat=group.jid,
            timezone=group.timezone or timezone,
            toolsets=toolsets,
        )
        | dict(variables or {}),
        working_directory=WORKSPACE_TARGET,
        limits=limits,
        uid=uid,
        gid=gid,
        image=image,
        deadline=deadline,
        runs_model_commands=runs_model_commands,
        program=program,
    )


def agent_mounts(places: AgentPlaces) -> tuple[Mount, ...]:
    """What an agent sees of the host. The box is read-only but for the directories it writes requests in.

    Source: contracts.md section 3.
    """
    return (
        *_workspace_mounts(places),
        Mount(source=places.shared, target=GLOBAL_TARGET),
        Mount(source=places.box, target=BOX_TARGET),
        *(
            Mount(source=places.box / name, target=f"{BOX_TARGET}/{name}", is_writable=True)
            for name in WRITABLE_DIRECTORIES
        ),
        Mount(source=places.home, target=HOME_TARGET, is_writable=True),
    )


def _workspace_mounts(places: AgentPlaces) -> tuple[Mount, ...]:
    """The workspace, over it what may be written of it, and a spawned agent's scratch."""
    workspace, beneath = places.workspace, places.beneath
    scratch = () if places.scratch is None else (places.scratch,)
    return (
        Mount(
            source=workspace,
            target=WORKSPACE_TARGET,
            is_writable=places.is_workspace_writable,
            beneath=beneath,
        ),
        *(
            Mount(
                source=path,
                target=f"{WORKSPACE_TARGET}/{path.relative_to(workspace)}",
                is_writable=True,
                beneath=workspace if beneath is None else beneath,
            )
            for path in places.writable
        ),
        *(Mount(source=path, target=SCRATCH_TARGET, is_writable=True) for path in scratch),
    )
