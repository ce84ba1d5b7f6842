"""Looking for a text everywhere that it could have leaked to."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_MOST_BYTES = 64 * 1024 * 1024


def files_with(text: bytes, root: Path, *, without: Iterable[Path] = ()) -> list[str]:
    """The files below `root` that hold it in their bytes, name, or target of a link. Blocks."""
    spared = [str(each) for each in without]
    found: list[str] = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if os.path.join(directory, name) not in spared]
        for name in (*names, *files):
            path = Path(directory, name)
            if text in os.fsencode(name) or text in _bytes_of(path):
                found.append(str(path))
    return found


def processes_with(text: bytes, *, below: int) -> list[str]:
    """What the kernel says of the process `below` and its descendants: arguments, environment, mounts, maps,
    open files. Blocks."""
    found: list[str] = []
    for pid in [below, *descendants_of(below)]:
        told = [f"/proc/{pid}/{name}" for name in ("cmdline", "environ", "mountinfo", "maps", "status")]
        found += [path for path in told if text in _bytes_of(Path(path))]
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if text in os.fsencode(os.readlink(f"/proc/{pid}/fd/{descriptor}")):
                        found.append(f"/proc/{pid}/fd/{descriptor}")
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_symlink():
            return os.fsencode(os.readlink(path))
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def descendants_of(pid: int) -> list[int]:
    """The processes that it started, theirs, and so on. Blocks."""
    parents: dict[int, int] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
    found = [child for child, parent in parents.items() if parent == pid]
    for child in found:
        found += [each for each, parent in parents.items() if parent == child]
    return found
