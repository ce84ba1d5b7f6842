"""The session homes of single agents, which go with them: `data/sessions/@{agentId}/`. Blocks.

Source: agents.md section 4.
"""

from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import BoxName, is_own_box
from orchestrator.store.dir_removal import remove_dir
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

_SLICE: Final = 2_000
_MAX_HOMES: Final = 100_000


def own_homes(sessions: Path) -> list[BoxName]:
    """The homes of single agents that lie on the disk, by the names of the boxes that went with them.

    Raises OSError.
    """
    with SafeDir.open(sessions) as ground:
        names, _ = ground.names(_MAX_HOMES)
    return [BoxName(name) for name in names if is_own_box(BoxName(name))]


def remove_own_home(sessions: Path, box: BoxName) -> None:
    """Remove the home of the agent that had this box for itself, if it had one; a group's home stays.

    Its agent is dead. Raises OSError for what can't be removed.
    """
    if is_own_box(box):
        remove_place(sessions, box)


def remove_place(directory: Path, name: str) -> None:
    """Remove what stands under `name` in a directory of ours, if it is there, with all that lies in it.

    Raises OSError for what can't be removed.
    """
    try:
        with SafeDir.open(directory) as ground:
            entry = ground.entry(name)
            if entry is None:
                return
            if not entry.is_dir:  # a link or a file stood in its place
                ground.remove(name)
                return
            if left := _empty(ground, name):
                raise OSError(f"{len(left)} entries can't be removed")
            ground.remove_empty(name)
    except UnsafeEntry as error:
        raise OSError(error.message.removesuffix(".")) from error


def _empty(ground: SafeDir, name: str) -> tuple[str, ...]:
    """Remove all that lies in it; the names at its top that resist."""
    with ground.own_child(name) as home:
        while not (removal := remove_dir(home, max_entries=_SLICE)).is_done:
            pass
        return removal.left
