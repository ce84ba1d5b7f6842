"""Looking for a text where only agents are: in what their processes see, in their memory, in their image."""

import contextlib
import gzip
import io
import os
import re
import tarfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

import docker

from tests.support.canary_search import descendants_of, files_with

_CHUNK: Final = 4 * 1024 * 1024
_ROOTS: Final = ("tmp", "run", "etc", "home", "workspace", "dev/shm", "var")
"""Not `opt` and the system's directories: programs, which an image's layers or the host have."""
_TOLD: Final = ("cmdline", "environ", "mountinfo", "maps", "status", "limits", "cgroup")
_WRITTEN_MEMORY: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_IN_USE: Final = 3 << 62
"""In memory or swapped out. Source: proc(5), pagemap."""


def agents_below(pid: int) -> list[int]:
    """The descendants of a process that have mounts of their own: those inside walls. Blocks."""
    ours = _namespace(os.getpid())
    return [each for each in (pid, *descendants_of(pid)) if _namespace(each) not in (None, ours)]


def seen_with(text: bytes, pids: Iterable[int]) -> list[str]:
    """What these processes see that holds it: their file systems, and their own `/proc`. Blocks."""
    found: list[str] = []
    first_of = {_namespace(pid): pid for pid in pids}
    for pid in first_of.values():
        root = Path(f"/proc/{pid}/root")
        for name in _ROOTS:
            found += files_with(text, root / name)
        with contextlib.suppress(OSError):
            for inside in filter(str.isdigit, os.listdir(root / "proc")):
                told = [root / "proc" / inside / name for name in _TOLD]
                found += [str(path) for path in told if text in _whole(path)]
    return found


def memory_with(text: bytes, pids: Iterable[int]) -> list[str]:
    """Where these processes hold it in their memory; what only mirrors a file is not read. Blocks."""
    found: list[str] = []
    for pid in pids:
        with (
            contextlib.suppress(OSError),
            open(f"/proc/{pid}/mem", "rb", buffering=0) as memory,
            open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap,
        ):
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                span = _WRITTEN_MEMORY.match(line)
                if span and _is_in_memory(text, memory, pagemap, int(span[1], 16), int(span[2], 16)):
                    found.append(f"/proc/{pid}/mem: {line}")
    return found


def layers_with(text: bytes, client: docker.DockerClient, image: str) -> list[str]:
    """The files of any layer of an image, also of what a later one removed, that hold it. Blocks."""
    found: list[str] = []
    saved = _Stream(client.images.get(image).save())
    with tarfile.open(fileobj=saved, mode="r|") as members:
        for member in members:
            file = members.extractfile(member) if member.isfile() else None
            if file is not None and _is_in(text, file):
                found.append(member.name)
    return found


def _namespace(pid: int) -> str | None:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/mnt")
    return None


def _whole(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _is_in_memory(text: bytes, memory: IO[bytes], pagemap: IO[bytes], start: int, end: int) -> bool:
    """Whether one mapping holds it; programs reserve far more than they fill, so only that is read."""
    pagemap.seek(start // _PAGE * 8)
    pages = array("Q", pagemap.read((end - start) // _PAGE * 8))
    tail = b""
    at = 0
    while at < len(pages):
        if not pages[at] & _IN_USE:
            at, tail = at + 1, b""
            continue
        first = at
        while at < len(pages) and pages[at] & _IN_USE and at - first < _CHUNK // _PAGE:
            at += 1
        with contextlib.suppress(OSError):
            memory.seek(start + first * _PAGE)
            part = tail + memory.read((at - first) * _PAGE)
            if text in part:
                return True
            tail = part[-len(text) :]
    return False


def _is_in(text: bytes, file: IO[bytes]) -> bool:
    """Whether a file holds it; a layer may be packed or not."""
    buffered = io.BufferedReader(file)  # type: ignore[type-var]  # what a tar gives is raw enough
    is_packed = buffered.peek(2)[:2] == b"\x1f\x8b"
    return _flows_by(text, gzip.GzipFile(fileobj=buffered) if is_packed else buffered)


def _flows_by(text: bytes, file: io.BufferedIOBase) -> bool:
    tail = b""
    while part := file.read(_CHUNK):
        if text in tail + part:
            return True
        tail = part[-len(text) :]
    return False


class _Stream(io.RawIOBase):
    """What comes in pieces, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, have = [self._left], len(self._left)
        while size < 0 or have < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            parts.append(piece)
            have += len(piece)
        whole = b"".join(parts)
        cut = len(whole) if size < 0 else size
        self._left = whole[cut:]
        return whole[:cut]
