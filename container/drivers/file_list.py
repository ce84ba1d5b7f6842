"""A bounded look at what lies in a workspace."""

import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_SHOWN: Final = 50
MAX_LOOKED_AT: Final = 5000
MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file by its path below the workspace."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """The first files, by path, and how many more were seen. is_whole: whether all was looked at."""

    files: tuple[ListedFile, ...]
    more: int = 0
    is_whole: bool = True


def list_files(workspace: Path) -> FileList:
    """The plain files below `workspace`; hidden ones and links are passed over. Blocks, but not for long."""
    found: list[ListedFile] = []
    looked_at, is_whole = 0, True
    waiting = deque([(workspace, 1)])
    while waiting:
        directory, depth = waiting.popleft()
        for entry in _entries(directory):
            looked_at += 1
            if looked_at > MAX_LOOKED_AT:
                waiting.clear()
                is_whole = False
                break
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH:
                    waiting.append((Path(entry.path), depth + 1))
                else:
                    is_whole = False
            elif entry.is_file(follow_symlinks=False) and (size := _size(entry)) is not None:
                path = str(Path(entry.path).relative_to(workspace))
                found.append(ListedFile(path=path, size_bytes=size))
    found.sort(key=lambda file: file.path)
    return FileList(files=tuple(found[:MAX_SHOWN]), more=max(len(found) - MAX_SHOWN, 0), is_whole=is_whole)


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    """At most as many entries as may be looked at; none of a directory that can't be read."""
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(directory) as scan:
            for entry in scan:
                entries.append(entry)
                if len(entries) > MAX_LOOKED_AT:
                    break
    except OSError:
        pass
    return entries


def _size(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None
