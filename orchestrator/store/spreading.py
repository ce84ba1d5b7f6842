"""A hint to the file system that the directories made in one directory have nothing to do with each other.

ext4 keeps a directory's files near it, and searches there for room for each new one. Where many files
come and go, that search takes longer than all other work on a small file; spread over the disk, each
directory has its own place to search.
"""

import contextlib
import struct
import sys
from typing import Final

if sys.platform == "linux":
    import fcntl

_LONG: Final = struct.calcsize("l")
_GET_FLAGS: Final = 0x80006601 | _LONG << 16
_SET_FLAGS: Final = 0x40006602 | _LONG << 16
"""`FS_IOC_GETFLAGS` and `FS_IOC_SETFLAGS` of linux/fs.h, as most machines number them."""
_TOP_OF_HIERARCHIES: Final = 0x20000
"""`FS_TOPDIR_FL`; as `chattr +T`."""


def spread_children(descriptor: int) -> None:
    """Have directories that are made in this one from now on spread over the disk, where that is known."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):  # a file system that has no such hint needs none
        raw = fcntl.ioctl(descriptor, _GET_FLAGS, bytes(_LONG))
        (flags,) = struct.unpack_from("i", raw)
        if not flags & _TOP_OF_HIERARCHIES:
            wanted = struct.pack("i", flags | _TOP_OF_HIERARCHIES).ljust(_LONG, b"\0")
            fcntl.ioctl(descriptor, _SET_FLAGS, wanted)
