"""A real file system of a few megabytes, which may be filled to the last byte."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.agreement.runners.conftest import lacking


@contextlib.contextmanager
def small_disk(path: Path, size_bytes: int) -> Iterator[None]:
    """A file system of this size at `path`. Where none can be mounted the test is skipped; CI fails."""
    path.mkdir(parents=True, exist_ok=True)
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0711", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mounted, check=False).returncode != 0:
        lacking("a small file system can be mounted by root only")
    try:
        yield
    finally:
        while path.is_mount():
            subprocess.run(["umount", str(path)], check=True)


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    """What is opened below `path`, a small disk, within the block can't be written.

    What was open before can. A real disk is not made read-only while files of it are open for writing, so a
    view is laid over it. It stays there, writable again, since somebody may hold a file of it.
    """
    subprocess.run(["mount", "--bind", str(path), str(path)], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,bind,rw", str(path)], check=True)


def fill(path: Path) -> None:
    """Write until nothing fits any more."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
