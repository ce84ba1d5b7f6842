"""Where copies of a home lie, those too that were written elsewhere, of which a list is kept. Blocking."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.store.private_files import sync_directory

ELSEWHERE: Final = ".elsewhere"
"""In the directory of backups: the path of each that is to be written outside of it, one a line, as JSON."""
STAGING: Final = ".restoring-"
"""How the directories in a home begin in which a backup is unpacked."""


def note_copy(backups: Path, path: Path) -> None:
    """Keep where a backup is about to be written. Raises OSError."""
    if path.parent == backups:
        return
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(backups / ELSEWHERE, flags, 0o600), "ab") as file:
        file.write(json.dumps(str(path)).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    sync_directory(backups)


def copies_kept(home: Path, backups: Path, *, aside: str) -> list[str]:
    """Where copies of the home or of its store lie that were made before, and what unfinished ones left.

    Of those elsewhere all but what is surely gone: a disk that is not there now comes back.
    """
    found = [path for path in backups.iterdir() if path.name != ELSEWHERE] if backups.is_dir() else []
    found += [*home.glob(f"{aside}*"), *home.glob(f"{STAGING}*")]
    found += [path for path in _elsewhere(backups) if path.exists() or not path.parent.is_dir()]
    return sorted({str(path) for path in found})


def _elsewhere(backups: Path) -> Iterator[Path]:
    try:
        lines = (backups / ELSEWHERE).read_bytes().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            path = json.loads(line)
        except ValueError:
            continue  # cut off by a power failure, before its backup was begun
        if isinstance(path, str):
            yield Path(path)
