"""Files that were moved out of their agents' reach and wait to be removed for good. Blocking."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from orchestrator.ipc.box_files import BoxFiles
from orchestrator.ipc.file_work import RequestFile, remove_taken
from orchestrator.store.entry import FileMark

MAX_WAITING: Final = 20_000
MAX_WAITING_BYTES: Final = 64 * 1024 * 1024
_AT_ONCE: Final = 50


@dataclass(slots=True, kw_only=True)
class _Box:
    """A box held open by a descriptor of its own, until nothing of it waits."""

    files: BoxFiles
    waiting: deque[tuple[str, FileMark]] = field(default_factory=deque)


class Removals:
    """What waits, box by box. count, size_bytes: of all."""

    def __init__(self) -> None:
        self.count = 0
        self.size_bytes = 0
        self._boxes: dict[tuple[int, int], _Box] = {}

    def add(self, request: RequestFile) -> None:
        """It was moved out; its box may be closed now."""
        key = request.files.identity
        if key not in self._boxes:
            self._boxes[key] = _Box(files=BoxFiles(request.files.root.descend(()), {}, readers_gid=None))
        self._boxes[key].waiting.append((request.directory, request.seen))
        self.count += 1
        self.size_bytes += request.seen.size

    def spare(self, files: BoxFiles) -> tuple[str, FileMark] | None:
        """A file of that box which is not to be removed any more, for another use; None if there is none."""
        box = self._boxes.get(files.identity)
        if box is None or not box.waiting:
            return None
        directory, seen = box.waiting.popleft()
        self.count -= 1
        self.size_bytes -= seen.size
        return directory, seen

    def do_some(self) -> None:
        """Remove a slice of what waits, of one box."""
        key, box = next(iter(self._boxes.items()))
        for _ in range(min(len(box.waiting), _AT_ONCE)):
            directory, seen = box.waiting.popleft()
            remove_taken(box.files, directory, seen)
            self.count -= 1
            self.size_bytes -= seen.size
        if not box.waiting:
            del self._boxes[key]
            box.files.close()

    def do_all(self) -> None:
        """Remove all that waits."""
        while self.count:
            self.do_some()

    def keep_bounds(self) -> None:
        """Remove what is too much to wait."""
        while self.count > MAX_WAITING or self.size_bytes > MAX_WAITING_BYTES:
            self.do_some()
