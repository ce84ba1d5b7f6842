"""What this process holds open, so that a test can say that its own things are closed again."""

import contextlib
import os
from pathlib import Path


def open_paths(below: Path) -> list[str]:
    """The paths at or below `below` that this process holds open, one for each descriptor, sorted."""
    return sorted(path for _, path in _numbered() if Path(path) == below or below in Path(path).parents)


def open_descriptors() -> set[str]:
    """What this process holds open, by number and name, but for modules that a thread may import just now."""
    return {
        f"{number}: {path}"
        for number, path in _numbered()
        if not path.endswith(".py") and "/__pycache__/" not in path
    }


def _numbered() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed since it was listed
            found.append((number, os.readlink(f"/proc/self/fd/{number}")))
    return found
