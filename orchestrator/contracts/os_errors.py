"""What the operating system refuses, as an error with the advice that fits the cause."""

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode

_ADVICE: Final[Mapping[int, str]] = {
    errno.EROFS: "Its file system is read-only: make that writable, or name another home with --home.",
    errno.ENOENT: "A directory on the way is not there: make it, or name another home with --home.",
    errno.ENOTDIR: "Something on the way is a file, not a directory: name another home with --home.",
    errno.EACCES: "This user may not go there: change the owner, or name another home with --home.",
    errno.EPERM: "This user may not do that there: change the owner, or name another home with --home.",
    errno.ENOSPC: "The disk is full: make room.",
    errno.EDQUOT: "This user's share of the disk is used up: make room.",
    errno.ENAMETOOLONG: "The path is too long: name a home with a shorter one with --home.",
    errno.EISDIR: "A directory stands where a file should be: move it away.",
    errno.ELOOP: "Links on the way go round in circles: mend them, or name another home with --home.",
}
_OTHERWISE: Final = "Check the disk, and that the path belongs to the user who runs Dovecote."


def advice_for(error: OSError) -> str:
    """What somebody can do about it."""
    return _ADVICE.get(error.errno or 0, _OTHERWISE)


def unusable(path: Path, error: OSError) -> DovecoteError:
    """The error for a path that cannot be used."""
    return DovecoteError(
        f"{path} cannot be used: {error.strerror}.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion=advice_for(error),
    )
