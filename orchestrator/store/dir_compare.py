"""What an agent changed where it may write: marked before, compared after. Never by a link; blocks.

By size and time of writing first, then by content, where that was read before. Source: docs/agents.md
section 2.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.records.dir_sizes import MAX_DEPTH
from orchestrator.store.entry import Entry
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import NotADir, UnsafeEntry, Vanished

_MAX_HASHED_FILE: Final = 4 * 1024**2
_PIECE: Final = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareLimits:
    """How much is compared. named: changed files that are named, the first in the order of their names.

    files: in the directories; of more nothing is said. hashed_bytes: read to be known again by their content.
    """

    named: int = 10_000
    files: int = 200_000
    hashed_bytes: int = 64 * 1024**2


USUAL: Final = CompareLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMark:
    """How a file was. sha256: None where it was not read, since there was too much to read."""

    kind: int
    size: int
    inode: int
    mtime_ns: int
    ctime_ns: int
    sha256: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirMarks:
    """How the files below some paths were, by their names relative to the workspace."""

    files: Mapping[str, FileMark]


def mark_dirs(workspace: Path, paths: Sequence[str], limits: CompareLimits = USUAL) -> DirMarks | None:
    """Mark every file below these paths of a workspace; None if there are too many to compare.

    paths: relative, a file or a directory; empty: the whole workspace. Raises OSError.
    """
    files: dict[str, FileMark] = {}
    left = limits.hashed_bytes
    for found in _walk(workspace, paths):
        if len(files) >= limits.files:
            return None
        mark = found.mark()
        if left >= mark.size and mark.size <= _MAX_HASHED_FILE and stat.S_ISREG(mark.kind):
            left -= mark.size
            mark = found.mark(with_content=True)
        files[found.path] = mark
    return DirMarks(files=files)


def changed_since(
    before: DirMarks, workspace: Path, paths: Sequence[str], limits: CompareLimits = USUAL
) -> tuple[str, ...] | None:
    """The files that were written, made or removed since, in order, as many as may be named.

    None if there are too many to compare. Raises OSError.
    """
    changed: set[str] = set()
    seen: set[str] = set()
    for found in _walk(workspace, paths):
        if len(seen) >= limits.files:
            return None
        seen.add(found.path)
        earlier = before.files.get(found.path)
        if earlier is None or _differs(found, earlier):
            changed.add(found.path)
    changed |= before.files.keys() - seen
    return tuple(sorted(_shown(path) for path in changed)[: limits.named])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A file of the walk; it may be read while the walk stands on it."""

    path: str
    directory: SafeDir
    name: str
    status: os.stat_result

    def mark(self, *, with_content: bool = False) -> FileMark:
        status = self.status
        return FileMark(
            kind=stat.S_IFMT(status.st_mode),
            size=status.st_size,
            inode=status.st_ino,
            mtime_ns=status.st_mtime_ns,
            ctime_ns=status.st_ctime_ns,
            sha256=_sha256(self.directory, self.name, status.st_size) if with_content else None,
        )


def _differs(found: _Found, earlier: FileMark) -> bool:
    """Times alone say nothing: one that was only touched, or put back as it was, is not changed."""
    now = found.mark()
    if (now.kind, now.size) != (earlier.kind, earlier.size):
        return True
    # The time of writing can be set at will; that of the last change of the entry can't.
    if (now.mtime_ns, now.ctime_ns, now.inode) == (earlier.mtime_ns, earlier.ctime_ns, earlier.inode):
        return False
    if earlier.sha256 is None:
        return (now.mtime_ns, now.inode) != (earlier.mtime_ns, earlier.inode)
    return found.mark(with_content=True).sha256 != earlier.sha256


def _walk(workspace: Path, paths: Sequence[str]) -> Iterator[_Found]:
    with SafeDir.open(workspace) as top:
        for path in paths or ("",):
            # What is not there, or has become something else on the way, holds nothing of the agent's.
            with contextlib.suppress(Vanished, NotADir):
                yield from _walk_path(top, [part for part in path.split("/") if part])


def _walk_path(top: SafeDir, parts: Sequence[str]) -> Iterator[_Found]:
    if not parts:
        yield from _walk_directory(top, (), device=top.itself().device, depth=1)
        return
    *above, name = parts
    with top.descend(above) as parent:
        entry = parent.entry(name)
        if entry is None:
            return
        if not entry.is_dir:
            yield from _look(parent, name, tuple(above))
            return
        with _opened(parent, entry) as itself:
            yield from _walk_directory(itself, tuple(parts), device=entry.device, depth=1)


def _walk_directory(here: SafeDir, below: tuple[str, ...], *, device: int, depth: int) -> Iterator[_Found]:
    directories: list[str] = []
    with closing(here.scan()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            else:
                yield from _look(here, entry.name, below)
    if depth == MAX_DEPTH:
        return
    for name in directories:
        with contextlib.suppress(UnsafeEntry, PermissionError):
            found = here.entry(name)
            if found is None or not found.is_dir or found.device != device:
                continue
            with _opened(here, found) as child:
                yield from _walk_directory(child, (*below, name), device=device, depth=depth + 1)


def _look(directory: SafeDir, name: str, below: tuple[str, ...]) -> Iterator[_Found]:
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=directory.fileno(), follow_symlinks=False)
        yield _Found(path="/".join((*below, name)), directory=directory, name=name, status=status)


def _opened(parent: SafeDir, entry: Entry) -> SafeDir:
    """The directory, open to us also where our own user took the right to look away."""
    try:
        return parent.child(entry.name)
    except PermissionError:
        return parent.own_child(entry.name)


def _sha256(directory: SafeDir, name: str, size: int) -> bytes | None:
    """Of the content; None of what can't be read, or is being written."""
    try:
        descriptor = directory.open_regular(name, size)
    except (UnsafeEntry, OSError):
        return None
    digest = hashlib.sha256()
    try:
        while piece := os.read(descriptor, _PIECE):
            digest.update(piece)
    finally:
        os.close(descriptor)
    return digest.digest()


def _shown(path: str) -> str:
    """As text that JSON can hold: what is not UTF-8 in it is shown as `\\xNN`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
