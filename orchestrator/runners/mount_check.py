"""Mounts, opened before they are mounted and compared afterwards: what is inside is what was meant."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.launch import LaunchPlan, Mount

# Not every system that Docker runs on has descriptors that only name a place.
_PLACE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMount:
    """A mount whose source was opened. device, inode: what it was then; descriptor: of the kind O_PATH."""

    mount: Mount
    descriptor: int
    device: int
    inode: int


@contextmanager
def opened_mounts(plan: LaunchPlan) -> Iterator[tuple[OpenMount, ...]]:
    """Each mount of `plan`, opened for as long as the block runs. Raises StartFailed."""
    with ExitStack() as stack:
        found: list[OpenMount] = []
        for mount in plan.mounts:
            descriptor = _open_source(mount)
            stack.callback(os.close, descriptor)
            status = os.fstat(descriptor)
            if stat.S_ISLNK(status.st_mode):
                raise StartFailed(
                    f"{mount.source}, which is mounted at {mount.target}, is a symbolic link.",
                    suggestion="Put a directory there.",
                )
            found.append(
                OpenMount(mount=mount, descriptor=descriptor, device=status.st_dev, inode=status.st_ino)
            )
        yield tuple(found)


def _open_source(mount: Mount) -> int:
    try:
        if mount.beneath is None:
            return os.open(mount.source, _PLACE)
        return _open_below(mount.beneath, mount.source.relative_to(mount.beneath).parts)
    except OSError as error:
        raise StartFailed(
            f"{mount.source}, which is mounted at {mount.target}, can't be opened: {error.strerror}.",
            suggestion="Run `dovecote doctor`: it names what is missing.",
        ) from error


def _open_below(top: Path, names: Sequence[str]) -> int:
    """Component by component: whoever may write there may have put a link on the way."""
    return _descend(os.open(top, _PLACE), names)


def _descend(here: int, names: Sequence[str]) -> int:
    for name in names:
        try:
            there = os.open(name, _PLACE, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here


def differences(pid: int, mounts: Sequence[OpenMount]) -> list[str]:
    """What the process `pid` sees otherwise than meant; empty when all is right.

    The descriptors of `mounts` are not used. Raises PermissionError where its root can't be read.
    """
    # This one link of the kernel's is followed on purpose.
    root = os.open(f"/proc/{pid}/root", _PLACE & ~os.O_NOFOLLOW)
    try:
        return [text for mount in mounts if (text := _difference(root, mount)) is not None]
    finally:
        os.close(root)


def reported_differences(reported: Mapping[str, str], mounts: Sequence[OpenMount]) -> list[str]:
    """As `differences`, by the agent's own list of container path to `device:inode`."""
    return [
        f"{mount.mount.target} is not {mount.mount.source}"
        for mount in mounts
        if reported.get(mount.mount.target, "") not in ("", f"{mount.device}:{mount.inode}")
    ]


def _difference(root: int, wanted: OpenMount) -> str | None:
    target = wanted.mount.target
    try:
        with _opened_inside(root, target) as (parent, descriptor):
            return _difference_of(parent, descriptor, wanted)
    except OSError as error:
        return f"{target} can't be opened inside: {error.strerror}"


def _difference_of(parent: int, descriptor: int, wanted: OpenMount) -> str | None:
    target, found = wanted.mount.target, os.fstat(descriptor)
    if (found.st_dev, found.st_ino) != (wanted.device, wanted.inode):
        return f"{target} is not {wanted.mount.source}"
    if not wanted.mount.is_writable and not os.fstatvfs(descriptor).f_flag & os.ST_RDONLY:
        return f"{target} is writable"
    # A directory that was removed may leave its number to the one that is made in its place.
    if _mount_number(parent) == _mount_number(descriptor):
        return f"{target} is not a mount"
    return None


@contextmanager
def _opened_inside(root: int, target: str) -> Iterator[tuple[int, int]]:
    """What `target` lies in, and itself, opened component by component: a link would lead out of `root`."""
    *above, name = target.strip("/").split("/")
    parent = _descend(os.dup(root), above)
    try:
        descriptor = os.open(name, _PLACE, dir_fd=parent)
        try:
            yield parent, descriptor
        finally:
            os.close(descriptor)
    finally:
        os.close(parent)


def _mount_number(descriptor: int) -> str:
    """The kernel's number of the mount that it was opened in."""
    words = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").split()
    return words[words.index("mnt_id:") + 1]


def refuse_differences(found: Sequence[str]) -> None:
    """Raises StartFailed if anything differs."""
    if found:
        raise StartFailed(
            f"The walls are not as planned: {'; '.join(found)}.",
            suggestion="Something changed directories while the agent started. Look at them, then try again.",
        )
