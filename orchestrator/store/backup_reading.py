"""Reading a backup back: every member looked at, every hash compared, nothing outside ever written. Blocking.

A backup may come from anywhere: links, devices, odd paths and what its manifest does not name are refused.
"""

import os
import tarfile
import zlib
from pathlib import Path
from typing import IO, Final, Protocol

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.store.backup_manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    Manifest,
    Member,
    check_name,
    copy_member,
    damaged,
    parse_manifest,
)

_MODE_BITS: Final = 0o777


class Destination(Protocol):
    """Where members go."""

    def directory(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> None:
        """Make a directory."""
        ...

    def file(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> IO[bytes]:
        """A new file to write; the caller closes it."""
        ...


class Nowhere:
    """For a look only."""

    def directory(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> None:
        """Nothing is made."""

    def file(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> IO[bytes]:
        """Nothing is kept."""
        return open(os.devnull, "wb")


class Staging:
    """A directory of ours beside what is to be replaced. Everything in it is new."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def directory(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> None:
        """Make it, with the rights it had and our own to write in it."""
        path = self._root.joinpath(*parts)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _give(path, info, also=0o700)

    def file(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> IO[bytes]:
        """Make it, with the rights it had."""
        path = self._root.joinpath(*parts)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = path.open("xb")
        _give(path, info, also=0)
        return made


def read_backup(source: Path, place: Destination) -> Manifest:
    """Put every member into `place`; the manifest, once all that it says was found to be so.

    Raises InvalidRequest for what is no whole backup of ours, OSError for a failing disk.
    """
    found: dict[str, Member] = {}
    manifest: Manifest | None = None
    with source.open("rb") as raw:
        try:
            with tarfile.open(fileobj=raw, mode="r|gz") as tar:
                for info in tar:
                    if manifest is not None or info.name in found:
                        raise damaged(f"{info.name[:200]!r} stands where nothing may")
                    if info.name == MANIFEST and info.isreg():
                        manifest = _read_manifest(tar, info)
                    elif (member := _take(tar, info, place)) is not None:
                        found[info.name] = member
        except (tarfile.TarError, EOFError, zlib.error, UnicodeError, FileExistsError) as error:
            raise damaged(f"it cannot be read ({error})") from error
    if manifest is None:
        raise damaged(f"it has no {MANIFEST}, so it may be cut off")
    _compare(manifest, found)
    return manifest


def _take(tar: tarfile.TarFile, info: tarfile.TarInfo, place: Destination) -> Member | None:
    parts = check_name(info.name)
    if info.isdir():
        place.directory(parts, info)
        return None
    if not info.isreg() or info.issparse():
        raise damaged(f"{info.name[:200]!r} is neither a file nor a directory")
    with place.file(parts, info) as target:
        return copy_member(_content(tar, info), target)


def _read_manifest(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Manifest:
    if info.size > MAX_MANIFEST_BYTES:
        raise damaged(f"its {MANIFEST} has {info.size} bytes; {MAX_MANIFEST_BYTES} is the limit")
    return parse_manifest(_content(tar, info).read())


def _compare(manifest: Manifest, found: dict[str, Member]) -> None:
    if missing := sorted(manifest.members.keys() - found.keys()):
        raise damaged(f"{missing[0][:200]!r} is missing ({len(missing)} in all)")
    if more := sorted(found.keys() - manifest.members.keys()):
        raise damaged(f"its {MANIFEST} does not know {more[0][:200]!r}")
    changed = [name for name, member in found.items() if manifest.members[name] != member]
    if changed:
        raise damaged(f"{changed[0][:200]!r} is not what was saved ({len(changed)} in all)")


def _content(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    read = tar.extractfile(info)
    if read is None:
        raise InvalidRequest(f"{info.name[:200]!r} cannot be read.")
    return read


def _give(path: Path, info: tarfile.TarInfo, *, also: int) -> None:
    """Its rights, and where we may give it away its owner: an agent's files are its own."""
    if os.geteuid() == 0:
        os.chown(path, info.uid, info.gid)
    path.chmod(info.mode & _MODE_BITS | also)
