"""How an agent is started: one value that describes walls and mounts; each runner renders it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import AgentId, GroupFolder

AGENT_RUNNER_COMMAND: Final = ("python3", "-s", "-P", "-m", "container.agent_runner")
"""Our own agent runner. An image starts it, or what it has instead, by its entry point.

`-s -P`: the agent may write in its home and in the working directory, and none of that is to be imported.
"""
WORKSPACE_TARGET: Final = "/workspace/group"
GLOBAL_TARGET: Final = "/workspace/global"
BOX_TARGET: Final = "/workspace/ipc"
HOME_TARGET: Final = "/home/agent"
SCRATCH_TARGET: Final = "/workspace/scratch"
"""A spawned agent's own place for files, beside the workspace of its parent."""
EXTRAS_TARGET: Final = "/workspace/extra"
"""Below it the operator's additional directories are seen, by name."""
AGENTS_TARGET: Final = "/opt/dovecote-agents"
"""Where the programs of models lie; its `bin` holds their commands."""
PROGRAMS_TARGET: Final = "/opt/dovecote"
"""Where the agent runner's own files lie: in the image, or bound from `data/programs`."""
TOKEN_TARGET: Final = "/run/dovecote/token"
"""Where an agent that may start others finds its session token, in the file `TOKEN_FILE`."""
TOKEN_FILE: Final = "session"
GITHUB_FILE: Final = "github"
"""Beside it the GitHub token of an agent whose definition names one."""
TOOLS_TARGET: Final = "/opt/dovecote-tools"
"""Where the packages of the tool server lie, for drivers that run a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A host path seen inside at `target`. Later mounts lie over earlier ones.

    beneath: a directory above `source` that agents can write in: from there on no link is followed.
    """

    source: Path
    target: str
    is_writable: bool = False
    beneath: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlaces:
    """Where on the host the directories of one agent lie; absolute paths.

    writable: what it may write in a workspace that is otherwise read-only. scratch: of a spawned agent.
    beneath: as of a mount, for the workspace.
    """

    workspace: Path
    shared: Path
    box: Path
    home: Path
    is_workspace_writable: bool = True
    writable: tuple[Path, ...] = ()
    scratch: Path | None = None
    beneath: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """What one container may use; open_files and file_size_bytes count for each of its processes."""

    memory_bytes: int = 1024**3
    processes: int = 256
    cpus: float = 2.0
    open_files: int = 4_096
    file_size_bytes: int = 1024**3
    tmp_bytes: int = 64 * 1024**2
    shm_bytes: int = 16 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """Everything a runner needs to build the walls and start the agent runner in them.

    command: what runs inside; `python3` as its first word is the interpreter that the runner has.
    environment: complete; nothing is inherited. Values and words of the command that are a mount's
    target, or below one, are container paths; a runner without mounts puts the host path there.
    uid, gid: who the agent is on the host; None: the orchestrator's own user.
    runs_model_commands: a driver that lets a model run commands needs walls. program: the agent program
    that has to be installed, as `dovecote image build --with` calls it; None: none.
    """

    agent_id: AgentId
    instance_id: str
    group: GroupFolder
    command: tuple[str, ...]
    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]
    working_directory: str
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    uid: int | None = None
    gid: int | None = None
    image: str | None = None
    deadline: datetime | None = None
    runs_model_commands: bool = False
    program: str | None = None
