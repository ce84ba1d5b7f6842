"""Restores that end at a named step, each in a process of its own: `python -m tests.support.broken_restore`.

On standard input, in JSON: the backup, and of each restore its home, at which step it ends, and whether by a
kill or by a disk that refuses. A step is a file that is moved, or the note of the restore that is removed.
On standard output, of each, how it ended.
"""

import errno
import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from orchestrator.commands.keeping.restoring import restore
from orchestrator.contracts.errors import DovecoteError
from orchestrator.paths import Paths
from orchestrator.store.unfinished_restore import MARKER

AT: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
_REFUSED: Final = 3


def _end_at(step: int, *, is_killed: bool) -> None:
    left = step

    def look(event: str, details: tuple[Any, ...]) -> None:
        nonlocal left
        is_end = event == "os.remove" and os.path.basename(os.fspath(details[0])) == MARKER
        if event == "os.rename" or is_end:
            left -= 1
            if left == 0 and is_killed:
                os.kill(os.getpid(), signal.SIGKILL)
            if left == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    sys.addaudithook(look)


def _restore(backup: Path, home: Path, step: int, *, is_killed: bool) -> int:
    _end_at(step, is_killed=is_killed)
    try:
        restore(Paths(home=home), backup, at=AT)
    except DovecoteError:
        return _REFUSED
    return 0


def main() -> None:
    """One after the other."""
    asked = json.load(sys.stdin)
    ends = {-signal.SIGKILL: "killed", _REFUSED: "refused", 0: "done"}
    told = []
    for home, step, is_killed in asked["restores"]:
        child = os.fork()
        if child == 0:
            os._exit(_restore(Path(asked["backup"]), Path(home), step, is_killed=is_killed))
        told.append(ends[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
