"""`data/spool/`: copies of files on their way to a chat, taken out of workspaces. Blocking.

A copy is on the disk before the row that needs it is committed, and goes after that row has ended; one
without a row is a leftover. Source: contracts.md section 3.
"""

import contextlib
import errno
import mimetypes
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.store.safe_copy import copy_file
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import HOST_TROUBLE, UnsafeEntry

UNKNOWN_TYPE: Final = "application/octet-stream"
DISK_TROUBLE: Final = HOST_TROUBLE | {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
"""What says nothing of a file: the disk is full or fails, or we are short of something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A file that was copied into the spool."""

    spool_name: str
    size_bytes: int


def copy_in(workspace: Path, parts: Sequence[str], spool: Path, *, max_bytes: int) -> Copy:
    """Copy the file that lies below `workspace` by `parts` into the spool, whole or not at all.

    Raises UnsafeEntry for what may not be copied, OSError for the rest.
    """
    spool_name = secrets.token_hex(16)
    with SafeDir.open(workspace) as top, top.descend(parts[:-1]) as here, SafeDir.open(spool) as target:
        size = copy_file(here, parts[-1], target, spool_name, max_bytes=max_bytes)
    return Copy(spool_name=spool_name, size_bytes=size)


def media_type(name: str) -> str:
    """What a file of that name holds, as MIME says it."""
    kind, encoding = mimetypes.guess_type(f"/{name}")
    if encoding is not None:
        return f"application/{encoding}" if encoding in ("gzip", "zstd") else UNKNOWN_TYPE
    return kind or UNKNOWN_TYPE


def discard(spool: Path, copies: Sequence[str]) -> list[str]:
    """Remove copies; those that are gone now. What cannot be removed is met again by the next sweep."""
    gone: list[str] = []
    with contextlib.suppress(UnsafeEntry, OSError), SafeDir.open(spool) as here:
        for name in copies:
            with contextlib.suppress(UnsafeEntry, OSError):
                here.remove(name)
                gone.append(name)
    return gone


def names(spool: Path) -> list[str]:
    """Every copy that is there."""
    with SafeDir.open(spool) as here:
        return sorted(entry.name for entry in here.scan())
