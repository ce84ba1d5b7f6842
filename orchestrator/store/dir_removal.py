"""Removing a directory that a container has written: never through a link, in slices, at any depth."""

import errno
import itertools
import os
import secrets
from dataclasses import dataclass
from typing import Final

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import NotADir, NotRegular, UnsafeEntry, Vanished

_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What came of one slice.

    left: names at the top that cannot be removed. is_done: nothing else is left.
    """

    removed: int
    left: tuple[str, ...]
    is_done: bool


def remove_dir(top: SafeDir, *, max_entries: int) -> Removal:
    """Remove what lies in `top`, up to about `max_entries` entries; `top` itself stays.

    Call again until `is_done`. A directory deep below is first moved up into `top`, so that two
    descriptors are enough for any depth.
    """
    slice_ = _Slice(top, max_entries)
    while slice_.room > 0 and (batch := slice_.next_batch(at_most=min(slice_.room, _BATCH))):
        for name, is_dir in batch:
            if slice_.room > 0:
                slice_.take(name, is_dir=is_dir)
    return Removal(
        removed=slice_.removed, left=tuple(sorted(slice_.left)), is_done=not slice_.next_batch(at_most=1)
    )


class _Slice:
    def __init__(self, top: SafeDir, room: int) -> None:
        self._top = top
        self._device = top.itself().device
        self.room = room
        self.removed = 0
        self.left: set[str] = set()
        top.mend()

    def next_batch(self, *, at_most: int) -> list[tuple[str, bool]]:
        """Entries of the top that have not been given up, with whether each is a real directory."""
        fresh = (entry for entry in self._top.scan() if entry.name not in self.left)
        return [
            (entry.name, entry.is_dir(follow_symlinks=False)) for entry in itertools.islice(fresh, at_most)
        ]

    def take(self, name: str, *, is_dir: bool) -> None:
        """Remove one entry of the top, or give it up."""
        self.room -= 1
        is_emptied = False
        try:
            if not is_dir:
                self.removed += self._top.remove(name)
                return
            is_emptied = self._empty(name)
            self._top.remove_empty(name)
            self.removed += 1
        except Vanished:
            return
        except (NotRegular, NotADir):
            return  # changed its kind since it was listed: the next batch sees it as it is
        except UnsafeEntry:
            self.left.add(name)
        except OSError as error:
            # Not empty though all of it was emptied: more came or the room ran out; the next batch goes on.
            if not (error.errno == errno.ENOTEMPTY and is_emptied):
                self.left.add(name)

    def _empty(self, name: str) -> bool:
        """Remove the files in the directory and move its directories up; False if something resists."""
        self._top.mend_child(name)
        resisted = False
        with self._top.child(name) as below:
            if below.itself().device != self._device:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            for entry in list(itertools.islice(below.scan(), max(self.room, 1))):
                self.room -= 1
                try:
                    if entry.is_dir(follow_symlinks=False):
                        below.mend_child(entry.name)
                        below.rename(entry.name, f".gone-{secrets.token_hex(8)}", to=self._top)
                    else:
                        self.removed += below.remove(entry.name)
                except Vanished:
                    continue
                except (UnsafeEntry, OSError):
                    resisted = True
        return not resisted
