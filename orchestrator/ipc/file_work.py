"""What is done with the files of a batch of requests, with how it went with each. Blocking.

Done in a thread here or by the clerk: it is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.ipc.box_files import BoxFiles
from orchestrator.store.entry import FileMark, ReadFile
from orchestrator.store.unsafe import HOST_TROUBLE, Busy, TooLarge, UnsafeEntry, Vanished


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """A request file to be read."""

    files: BoxFiles
    directory: str
    name: str


class WhyNot(StrEnum):
    """Why a file was not read. Trouble: ours, and later it may be right. Large: more than was asked for."""

    GONE = "gone"
    BUSY = "busy"
    UNSAFE = "unsafe"
    TROUBLE = "trouble"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not read. what: the reason in words, for its agent or for the log."""

    why: WhyNot
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFile:
    """An answer to be written. request_id keeps the rule of names."""

    files: BoxFiles
    request_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFile:
    """A request file to be removed, if it is still the one that was read as `seen`."""

    files: BoxFiles
    directory: str
    name: str
    seen: FileMark


class Fate(StrEnum):
    """How it went. Another: a newer file stood there and went back. Refused: it is the agent's doing
    that it cannot be done. Failed: the disk's; later it may go.
    """

    DONE = "done"
    ANOTHER = "another"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one of them went. why: the rest of a line in the log."""

    fate: Fate
    why: str = ""


_DONE = Outcome(Fate.DONE)


def read(named: NamedFile, max_bytes: int) -> ReadFile | Unread:
    """The file's content."""
    try:
        return named.files.read(named.directory, named.name, max_bytes)
    except Vanished as error:
        return Unread(WhyNot.GONE, error.message)
    except Busy as error:
        return Unread(WhyNot.BUSY, error.message)
    except TooLarge as error:
        return Unread(WhyNot.LARGE, error.message)
    except UnsafeEntry as error:
        return Unread(WhyNot.UNSAFE, error.message)
    except OSError as error:
        if error.errno in HOST_TROUBLE:
            return Unread(WhyNot.TROUBLE, error.strerror or str(error))
        return Unread(WhyNot.UNSAFE, f"The file cannot be read: {error.strerror}.")


def write_reply(reply: ReplyFile) -> Outcome:
    """Put an answer into its box."""

    def write() -> Outcome:
        reply.files.write_reply(reply.request_id, reply.text.encode("utf-8", "replace"))
        return _DONE

    return _tried(write)


def write_reply_into(reply: ReplyFile, directory: str, seen: FileMark) -> Outcome:
    """As `write_reply`, in the file that was taken out as `seen`, if it can be; then it is used up."""

    def write() -> Outcome:
        raw = reply.text.encode("utf-8", "replace")
        try:
            if not reply.files.write_reply_into(directory, seen, reply.request_id, raw):
                reply.files.write_reply(reply.request_id, raw)
        finally:
            reply.files.remove_taken(directory, seen)
        return _DONE

    return _tried(write)


def take_out(request: RequestFile) -> Outcome:
    """Move a request file out of its agent's reach; done too when it is gone already."""

    def take() -> Outcome:
        try:
            is_same = request.files.take_out(request.directory, request.name, request.seen)
        except Vanished:
            return _DONE
        return _DONE if is_same else Outcome(Fate.ANOTHER)

    return _tried(take)


def remove_taken(files: BoxFiles, directory: str, seen: FileMark) -> Outcome:
    """Remove for good what `take_out` moved."""

    def remove() -> Outcome:
        files.remove_taken(directory, seen)
        return _DONE

    return _tried(remove)


def take_away(request: RequestFile) -> Outcome:
    """Move a request file out and remove it at once."""
    outcome = take_out(request)
    if outcome.fate is Fate.DONE:
        remove_taken(request.files, request.directory, request.seen)
    return outcome


def _tried(work: Callable[[], Outcome]) -> Outcome:
    try:
        return work()
    except UnsafeEntry as error:
        return Outcome(Fate.REFUSED, error.message)
    except OSError as error:
        return Outcome(Fate.FAILED, str(error))
