"""One box on the disk, seen from the host: every directory held by its descriptor. Blocking.

The host's own directory of the box takes what is acknowledged or in the way, so a container cannot
reach it there any more. Source: contracts.md section 3.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from orchestrator.contracts.ids import BoxName, is_file_name, is_folder_name
from orchestrator.contracts.wire.boxes import (
    BOX_DIRECTORIES,
    INPUT,
    REPLIES,
    REQUEST_DIRECTORIES,
    WRITABLE_DIRECTORIES,
)
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.box_files import ASIDE, REQUEST_SUFFIX, BoxFiles, aside
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import NotRegular, UnsafeEntry, Vanished


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What lies in a directory. requests: names that ask to be taken, in order. is_over: too many entries.

    is_closed: we may not look into it, so nothing is known.
    """

    requests: list[str]
    directories: list[str]
    is_over: bool
    is_closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxLook:
    """What a whole box holds, by directory. crowded: too many entries. nested: a directory in it, where
    only files belong; `""` is the box itself. exchanged: another thing, or nothing, stands in its place.
    """

    size_bytes: int
    crowded: tuple[str, ...]
    nested: tuple[str, ...]
    exchanged: tuple[str, ...]


def is_box_name(name: str) -> bool:
    """Whether `name` can be a box: a group's folder, or `@` and an agent's id."""
    return is_folder_name(name) or (name.startswith("@") and is_file_name(name[1:]))


class Box:
    """An open box. Methods may run in any thread, but not while another one calls `close`."""

    def __init__(self, name: BoxName, root: SafeDir, directories: Mapping[str, SafeDir]) -> None:
        self.name = name
        self._root = root
        owner = directories[INPUT].itself()
        self._uid, self._gid = owner.uid, owner.gid
        self._identities = {
            each: (itself.device, itself.inode)
            for each, itself in ((each, held.itself()) for each, held in directories.items())
        }
        is_shared = root.itself().mode & 0o001 != 0
        self.files = BoxFiles(root, directories, readers_gid=self._gid if is_shared else None)

    @classmethod
    def make(cls, ipc: SafeDir, name: BoxName, *, uid: int | None, gid: int | None) -> Self:
        """A new, empty box; nothing may stand under its name.

        uid, gid: who the agent is on the host. Only the directories it writes are its own; it passes
        through the box and reads `replies` by its group. None: all is ours.
        """
        root = ipc.make_child(name, mode=0o700 if uid is None else 0o711)
        directories: dict[str, SafeDir] = {}
        try:
            for directory in WRITABLE_DIRECTORIES:
                directories[directory] = root.make_child(directory, mode=0o700, uid=uid, gid=gid)
            directories[REPLIES] = root.make_child(REPLIES, mode=0o700 if uid is None else 0o750, gid=gid)
        except BaseException:
            _close(root, directories)
            raise
        return cls(name, root, directories)

    @classmethod
    def reopen(cls, ipc: SafeDir, name: BoxName) -> Self | None:
        """A box that lies there; None if none does. What stands in a directory's place is set aside."""
        try:
            root = ipc.own_child(name)
        except UnsafeEntry:
            return None
        directories: dict[str, SafeDir] = {}
        try:
            owner = root.entry(INPUT)
            for directory in BOX_DIRECTORIES:
                held = _open_or_set_aside(root, directory)
                if held is None:
                    uid, gid = (None, None) if owner is None or not owner.is_dir else (owner.uid, owner.gid)
                    held = root.make_child(directory, mode=0o700, uid=uid, gid=gid)
                directories[directory] = held
            BoxFiles(root, directories, readers_gid=None).end_taken()
        except BaseException:
            _close(root, directories)
            raise
        return cls(name, root, directories)

    def directory(self, name: str) -> SafeDir:
        """One of the box's directories. An agent of our own user may have closed it: it is opened again."""
        return self.files.directory(name)

    @property
    def owner(self) -> tuple[int, int]:
        """Who the agent is on the host: uid and gid."""
        return self._uid, self._gid

    def listing(self, directory: str, *, max_entries: int) -> Listing:
        """The requests in `directory` by name, and what does not belong there.

        Of more than `max_entries` entries only so many are looked at.
        """
        requests: list[str] = []
        directories, count = [], 0
        try:
            for entry in itertools.islice(self.directory(directory).scan(), max_entries + 1):
                count += 1
                if entry.name.endswith(REQUEST_SUFFIX):
                    requests.append(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    directories.append(entry.name)
        except PermissionError:
            return Listing(requests=[], directories=[], is_over=False, is_closed=True)
        return Listing(requests=sorted(requests), directories=directories, is_over=count > max_entries)

    def put_away(self, directory: str, name: str) -> None:
        """Remove what is no request file, whatever it is; a directory goes out of the agent's reach."""
        try:
            self.directory(directory).remove(name)
        except NotRegular:
            held = self.directory(directory)
            held.mend_child(name)  # a directory moves only with the right to write in it
            held.rename(name, aside(), to=self._root)

    def write_reply(self, reply: Reply) -> None:
        """Put the answer into `replies`, in one step. Its `request_id` must keep the rule of names."""
        self.files.write_reply(reply.request_id, to_json(reply).encode("utf-8", "replace"))

    def write_snapshot(self, name: str, raw: bytes) -> None:
        """Put a file into the box itself, in one step."""
        self.files.write_readable(self._root, name, raw)

    def last_changes(self) -> dict[str, int | None]:
        """Of each request directory, when its entries last changed; None if it is not ours any more."""
        changes: dict[str, int | None] = {}
        self._root.mend()
        for name in REQUEST_DIRECTORIES:
            seen = self._root.stamp(name)
            changes[name] = seen[2] if seen is not None and seen[:2] == self._identities[name] else None
        return changes

    def look(self, *, max_entries: int) -> BoxLook:
        """What lies in the box; of a directory no more than `max_entries` entries and one are looked at."""
        size_bytes, crowded, nested, exchanged = 0, list[str](), list[str](), list[str]()
        for name in BOX_DIRECTORIES:
            if not self._is_in_its_place(name):
                exchanged.append(name)
            try:
                entries = self.directory(name).entries(max_entries + 1)
            except UnsafeEntry:
                continue  # it was removed, and is said to be exchanged
            size_bytes += sum(entry.size for entry in entries if not entry.is_dir)
            if len(entries) > max_entries:
                crowded.append(name)
            if any(entry.is_dir for entry in entries):
                nested.append(name)
        top = self._root.entries(max_entries)
        if any(entry.is_dir and not _is_ours(entry.name) for entry in top):
            nested.append("")
        return BoxLook(
            size_bytes=size_bytes, crowded=tuple(crowded), nested=tuple(nested), exchanged=tuple(exchanged)
        )

    def _is_in_its_place(self, name: str) -> bool:
        seen = self._root.entry(name)
        return seen is not None and (seen.device, seen.inode) == self._identities[name]

    def prune_replies(
        self, *, before_ns: int, surplus_before_ns: int, max_bytes: int, max_entries: int
    ) -> None:
        """Remove answers written before that time; those beyond `max_bytes`, if from before the other one."""
        replies = self.directory(REPLIES)
        kept_bytes = 0
        for entry in sorted(replies.entries(max_entries), key=lambda entry: entry.mtime_ns, reverse=True):
            kept_bytes += entry.size
            is_surplus = kept_bytes > max_bytes and entry.mtime_ns < surplus_before_ns
            if (entry.mtime_ns < before_ns or is_surplus) and not entry.is_dir:
                replies.remove(entry.name)

    def close(self) -> None:
        """Give the descriptors back. May be called again."""
        self.files.close()


def _open_or_set_aside(root: SafeDir, directory: str) -> SafeDir | None:
    """The directory that lies there; None if none does, or what does is no directory that we may open."""
    try:
        return root.own_child(directory)
    except Vanished:
        return None
    except (UnsafeEntry, PermissionError):
        root.rename(directory, aside())
        return None


def _is_ours(name: str) -> bool:
    return name in BOX_DIRECTORIES or name.startswith(ASIDE)


def _close(root: SafeDir, directories: Mapping[str, SafeDir]) -> None:
    for directory in directories.values():
        directory.close()
    root.close()
