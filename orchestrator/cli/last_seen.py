"""Which texts of a chat the people at the terminal have seen, kept from one `dovecote chat` to the next."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.contracts.ids import Jid

Spans = Sequence[tuple[int, int]]
"""Seen are the ids behind the first number of each, up to the second."""


class LastSeen:
    """Of one chat. What can't be written is seen again; what no chat has noted yet was seen before it was."""

    def __init__(self, path: Path, chat: Jid) -> None:
        self._path = path
        self._chat = chat

    def begin(self, last_id: int) -> int:
        """A chat opens, whose newest text is that one; up to which text all were seen.

        The first chat that takes notes shows nothing of before. A store that was restored may be behind what
        was seen.
        """
        with self._alone():
            found = self._all()
            known = found.get(self._chat, [(0, last_id)])
            held = [(first, min(last, last_id)) for first, last in known if first < last_id]
            if found.get(self._chat) != held:
                self._write(found, held)
        return held[0][1] if held and held[0][0] == 0 else 0

    def has(self, text_id: int) -> bool:
        """Whether some chat has shown it."""
        return any(first < text_id <= last for first, last in self._all().get(self._chat, ()))

    def note(self, first: int, last: int) -> None:
        """A chat has shown all behind `first`, up to `last`."""
        with self._alone():
            found = self._all()
            self._write(found, _joined([*found.get(self._chat, ()), (first, last)]))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other chat takes notes between our look and our note; where none can be written, none does."""
        try:
            lock = os.open(self._path.with_name(f".{self._path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            yield
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # held for as long as a small file is written
            yield
        finally:
            os.close(lock)

    def _write(self, found: Mapping[str, Spans], spans: Spans) -> None:
        unfinished = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            unfinished.write_text(json.dumps({**found, self._chat: spans}))
            unfinished.replace(self._path)
        except OSError:
            unfinished.unlink(missing_ok=True)

    def _all(self) -> dict[str, Spans]:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {chat: spans for chat, plain in found.items() if (spans := _spans(plain)) is not None}


def _spans(plain: object) -> Spans | None:
    """What stands in the file; an earlier version wrote the last id alone."""
    match plain:
        case bool():
            return None
        case int():
            return [(0, plain)]
        case list():
            pairs = [each for each in plain if isinstance(each, list) and len(each) == 2]
            numbers = [(each[0], each[1]) for each in pairs if all(isinstance(n, int) for n in each)]
            return numbers if len(numbers) == len(plain) else None
        case _:
            return None


def _joined(spans: Spans) -> Spans:
    """The same ids in as few spans as there can be, in order."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        elif first < last:
            joined.append((first, last))
    return joined
