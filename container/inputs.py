"""Follow-ups and the wish to close, as files in `input/`. Source: contracts.md sections 1 and 3."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import CLOSE_FILE_1X, Answer, Close, FollowUp
from orchestrator.contracts.wire.codec import WireError, from_plain, parse_json

MAX_INPUT_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One file of `input/` and what it says."""

    name: str
    meaning: FollowUp | Answer | Close


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableInput:
    """A file of `input/` that says nothing we know; it stays where it is, for the host to see."""

    name: str
    reason: str


class InputDirectory:
    """The files of `input/`, each given out once, in name order. Methods block: call them in a thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._given: dict[str, tuple[int, int]] = {}

    def take_new(self) -> list[InputFile | UnreadableInput]:
        """What has arrived since the last call. A name used again for another file counts as new."""
        new: list[InputFile | UnreadableInput] = []
        present = _names(self._directory)
        self._given = {name: seen for name, seen in self._given.items() if name in present}
        for name in present:
            try:
                status = os.lstat(self._directory / name)
            except FileNotFoundError:
                continue
            identity = (status.st_ino, status.st_ctime_ns)
            if self._given.get(name) != identity:
                self._given[name] = identity
                new.append(_read(self._directory, name))
        return new

    def remove(self, names: Iterable[str]) -> None:
        """Remove files: the turn that took them has ended. Those already gone are no error."""
        for name in names:
            (self._directory / name).unlink(missing_ok=True)

    def drop_stale_close(self) -> None:
        """Remove a wish to close that was meant for an agent before us. Call before `ready`."""
        for name in _names(self._directory):
            found = _read(self._directory, name)
            if isinstance(found, InputFile) and isinstance(found.meaning, Close):
                self.remove([name])


def parse_input(content: bytes) -> FollowUp | Answer | Close:
    """What an input file says, in either spelling. Raises WireError."""
    plain = parse_json(content)
    if not isinstance(plain, dict):
        raise WireError(f"expected an object, got {type(plain).__name__}")
    kind = plain.get("type", "message")
    if kind == Close().type:
        return Close()
    if kind == Answer(question_id="").type:
        return from_plain(Answer, plain)
    if kind != "message":
        raise WireError(f"unknown type {kind!r}")
    text = next((plain[key] for key in ("content", "text") if isinstance(plain.get(key), str)), None)
    if text is None:
        raise WireError("neither 'content' nor 'text' is a text")
    turn_id = plain.get("turnId")
    return FollowUp(
        content=text,
        text=text,
        ids=_texts(plain.get("ids")),
        triggers=_texts(plain.get("triggers")),
        turn_id=TurnId(turn_id) if isinstance(turn_id, str) else None,
    )


def _texts(plain: object) -> tuple[str, ...]:
    return tuple(item for item in plain if isinstance(item, str)) if isinstance(plain, list) else ()


def _names(directory: Path) -> list[str]:
    """Input files in name order; the older close file, whose name has no place in it, comes last."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    files = sorted(name for name in names if name.endswith(".json") and not name.startswith("."))
    return [*files, CLOSE_FILE_1X] if CLOSE_FILE_1X in names else files


def _read(directory: Path, name: str) -> InputFile | UnreadableInput:
    if name == CLOSE_FILE_1X:
        return InputFile(name=name, meaning=Close())
    try:
        return InputFile(name=name, meaning=parse_input(_content(directory / name)))
    except (OSError, WireError) as error:
        return UnreadableInput(name=name, reason=str(error))


def _content(path: Path) -> bytes:
    """The bytes of a plain file; a FIFO or a link in its place must neither hang us nor lead us away."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise WireError("not a regular file")
        if status.st_size > MAX_INPUT_BYTES:
            raise WireError(f"{status.st_size} bytes, over the limit of {MAX_INPUT_BYTES}")
        return file.read(MAX_INPUT_BYTES)
