"""Work done without root's rights on files, also where the tests run as root."""

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")
_UID: Final = 64_101


def as_plain_user(work: Callable[[], T]) -> T:
    """What `work` returns. As root it runs in a thread of its own, to which modes of files mean something."""
    with plain_users_threads() as threads:
        return threads.submit(work).result()


def plain_users_threads() -> ThreadPoolExecutor:
    """Threads without root's rights on files, until it is shut down."""
    return ThreadPoolExecutor(2, "plain user", initializer=_become_plain_user)


def _become_plain_user() -> None:
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        libc.setfsgid(_UID)
        libc.setfsuid(_UID)  # Linux keeps this for each thread, and takes root's rights on files away with it


@contextlib.contextmanager
def plain_users_directory() -> Iterator[Path]:
    """A directory that the plain user owns and can reach."""
    with tempfile.TemporaryDirectory(prefix="dovecote-plain-") as made:
        path = Path(made)
        if os.geteuid() == 0:
            os.chown(path, _UID, _UID)
        yield path
