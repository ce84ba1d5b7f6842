"""Where an agent finds its things: the same names in every runner, the paths by environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES

WORKSPACE_VARIABLE: Final = "DOVECOTE_WORKSPACE"
GLOBAL_VARIABLE: Final = "DOVECOTE_GLOBAL"
BOX_VARIABLE: Final = "DOVECOTE_BOX"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The directories an agent may know of: its workspace, what all groups share, its box, its home."""

    workspace: Path
    shared: Path
    box: Path
    home: Path

    def mounts(self) -> dict[str, str]:
        """Each directory that is there, as `device:inode`: the host compares them with its plan."""
        wanted = (self.workspace, self.shared, self.home, self.box, *(self.box / d for d in BOX_DIRECTORIES))
        found: dict[str, str] = {}
        for path in wanted:
            try:
                status = os.stat(path)
            except OSError:
                continue
            found[str(path)] = f"{status.st_dev}:{status.st_ino}"
        return found


def places_from(environment: Mapping[str, str]) -> Places:
    """The places that the environment names; without it those of a container. Source: design.md section 7."""
    return Places(
        workspace=Path(environment.get(WORKSPACE_VARIABLE, "/workspace/group")),
        shared=Path(environment.get(GLOBAL_VARIABLE, "/workspace/global")),
        box=Path(environment.get(BOX_VARIABLE, "/workspace/ipc")),
        home=Path(environment.get("HOME", "/home/agent")),
    )
