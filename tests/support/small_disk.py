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
        subprocess.run(["umount", str(path)], check=True)


def fill(path: Path) -> None:
    """Write until nothing fits any more."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
