"""`MEMORY.md` in the workspace: what the built-in driver was asked to remember, a line each.

People and programs write there too. Only lines that begin with `- ` are notes; every other byte is
kept as it is. What is not a plain file of the workspace itself is refused.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, Forbidden, LimitExceeded, Unavailable
from orchestrator.contracts.wire.boxes import temporary_name

FILE_NAME: Final = "MEMORY.md"
MAX_FILE_BYTES: Final = 256 * 1024
MAX_NOTE_CHARS: Final = 1000
_HEADING: Final = "# Memory"
_BULLET: Final = "- "


class NotesFile:
    """The notes of one workspace. Methods block: call them in a thread.

    Raises Forbidden for a link or another thing in the file's place, LimitExceeded when it is full,
    Unavailable when the disk refuses.
    """

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def all(self) -> list[str]:
        """Every note, oldest first."""
        return [line[len(_BULLET) :].strip() for line in self._lines() if _is_note(line)]

    def add(self, note: str) -> None:
        """Keep a note: one line, cut to 1000 characters. A note already there moves to the end."""
        note = one_line(note)
        lines = [line for line in self._lines() if not (_is_note(line) and _same(line[len(_BULLET) :], note))]
        self._write([*(lines or [_HEADING, ""]), _BULLET + note])

    def remove(self, notes: Sequence[str]) -> None:
        """Drop these notes, as `all` gave them."""
        gone = set(notes)
        kept = [
            line for line in self._lines() if not (_is_note(line) and line[len(_BULLET) :].strip() in gone)
        ]
        self._write(kept)

    def _lines(self) -> list[str]:
        try:
            directory = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _unavailable(error) from error
        try:
            # Surrogates carry bytes that are no UTF-8 through to the next write.
            text = _read(directory).decode("utf-8", "surrogateescape")
            return text.removesuffix("\n").split("\n") if text else []
        finally:
            os.close(directory)

    def _write(self, lines: Sequence[str]) -> None:
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        if len(content) > MAX_FILE_BYTES:
            raise LimitExceeded(
                f"{FILE_NAME} is full ({MAX_FILE_BYTES // 1024} KiB).", suggestion="Forget something first."
            )
        temporary = temporary_name(FILE_NAME)
        try:
            directory = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _write_new(directory, temporary, content)
                os.rename(temporary, FILE_NAME, src_dir_fd=directory, dst_dir_fd=directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise _unavailable(error) from error


def one_line(text: str) -> str:
    """`text` as a note can hold it: white space folded, no control characters, cut."""
    # Folded last: what is dropped between two spaces would leave both.
    shown = "".join(sign for sign in text if sign.isspace() or is_shown(sign))
    return " ".join(shown.split())[:MAX_NOTE_CHARS].rstrip()


def is_shown(sign: str) -> bool:
    """Whether a character has a place in a line of text; the joiner that holds emoji together has."""
    return sign.isprintable() or sign == "\u200d"


def _is_note(line: str) -> bool:
    return line.startswith(_BULLET) and bool(line[len(_BULLET) :].strip())


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _read(directory: int) -> bytes:
    """The file's bytes, none if there is no file. Raises Forbidden."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(FILE_NAME, "rb", opener=lambda name, _: os.open(name, flags, dir_fd=directory)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise _refused()
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _refused() from error
    if len(content) > MAX_FILE_BYTES:
        raise LimitExceeded(
            f"{FILE_NAME} is larger than {MAX_FILE_BYTES // 1024} KiB.", suggestion="Make it shorter by hand."
        )
    return content


def _write_new(directory: int, name: str, content: bytes) -> None:
    """A file of that name which nobody else has open or linked, with its bytes on the disk."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o644, dir_fd=directory), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _refused() -> Forbidden:
    return Forbidden(
        f"{FILE_NAME} is not a plain file of this workspace.",
        suggestion="Move it away; a new one is made by the next note.",
    )


def _unavailable(error: OSError) -> Unavailable:
    return Unavailable(
        f"The workspace can't be used: {error.strerror}.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion="Look at the disk, then ask again.",
    )
