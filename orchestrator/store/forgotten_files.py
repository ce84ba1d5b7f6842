"""Removing what lies on the disk about a group or a person, never outside of our directories. Blocks.

Source: contracts.md sections 3 and 8.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import GroupFolder
from orchestrator.store.group_folders import WORKSPACE
from orchestrator.store.inbox import INBOX
from orchestrator.store.own_homes import remove_place
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

_LOG: Final = ".log"


class Files:
    """Counts what was removed, and remembers what resisted."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.resisted: list[str] = []

    def remove(self, directory: Path, names: Iterable[str]) -> None:
        """Remove what stands under these names, if anything does, with all that lies in it."""
        for name in names:
            path = directory / name
            if not os.path.lexists(path):
                continue
            try:
                remove_place(directory, name)
            except OSError:
                self.resisted.append(str(path))
            else:
                self.removed.append(str(path))

    def remove_logs(self, directory: Path, owners: Sequence[str]) -> None:
        """Remove what the agents of these groups, or these agents themselves, printed."""
        if directory.is_dir():
            mine = tuple(f"{owner}{_LOG}" for owner in owners)
            self.remove(directory, [name for name in sorted(os.listdir(directory)) if name.startswith(mine)])

    def remove_received(self, groups: Path, folder: GroupFolder, names: Sequence[str]) -> None:
        """Remove files from the inbox of a group's workspace; an agent may have moved or changed them."""
        with contextlib.suppress(UnsafeEntry, OSError), _open_inbox(groups, folder) as inbox:
            for name in names:
                if inbox.remove(name):
                    self.removed.append(str(groups / folder / WORKSPACE / INBOX / name))


def _open_inbox(groups: Path, folder: GroupFolder) -> SafeDir:
    with (
        SafeDir.open(groups) as parent,
        parent.child(folder) as group,
        group.own_child(WORKSPACE) as workspace,
    ):
        return workspace.own_child(INBOX)
