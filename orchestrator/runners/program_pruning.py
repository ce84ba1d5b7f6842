"""What earlier versions left in `data/programs` is removed, once nobody of this home can use it any more."""

import re
import shutil
import time
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Unavailable
from orchestrator.runners.agent_directory import CURRENT
from orchestrator.runners.runner_files import choose_interpreter, programs_place
from orchestrator.runners.tool_packages import tools_place

_MADE_HERE: Final = re.compile(r"(tools-|agents-)?[0-9a-f]{16}")
_UNFINISHED: Final = re.compile(r"\.(tools-|agents-)?([0-9a-f]{16}|agents)\.[0-9a-f]{8}")
# A command of the operator's may be at work beside us.
_YOUNG_S: Final = 3_600.0


def prune_programs(root: Path) -> list[str]:
    """Remove from `root` (`data/programs`) what this version does not use; the names of what went. Blocks.

    Only whoever holds the home's lock may call it, before an agent runs. What is an hour old or less stays.
    """
    try:
        interpreter = choose_interpreter()
        kept = {programs_place(root, interpreter).name, tools_place(root, interpreter).name}
        link = root / CURRENT
        if link.is_symlink():
            kept.add(link.readlink().name)
        found = sorted(root.iterdir())
    except (OSError, Unavailable):
        return []  # there is room to be won, nothing else: the next start tries again
    gone = [path for path in found if path.name not in kept and _is_over(path)]
    for path in gone:
        if path.is_symlink():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in gone]


def _is_over(path: Path) -> bool:
    if not (_MADE_HERE.fullmatch(path.name) or _UNFINISHED.fullmatch(path.name)):
        return False
    try:
        age_s = time.time() - path.lstat().st_mtime  # noqa: TID251 — compared with a file's time
    except OSError:
        return False
    return age_s > _YOUNG_S
