"""From a name in a box to what the file asks for. Blocking."""

import hashlib
from dataclasses import dataclass, replace
from typing import Final, Self

from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import is_file_name
from orchestrator.ipc.box_files import REQUEST_SUFFIX
from orchestrator.ipc.file_work import NamedFile, Unread, WhyNot, read
from orchestrator.ipc.lane import Lane
from orchestrator.ipc.parse import MAX_REQUEST_BYTES, FileRefusal, ParsedRequest, parse_request
from orchestrator.store.entry import ReadFile
from orchestrator.store.requests import RequestKey
from orchestrator.store.unsafe import printable

_SIGNED_64: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A name that is to be looked at. caller: by whose rights. holds: those of its lane until then."""

    lane: Lane
    directory: str
    name: str
    caller: AgentCaller
    holds: int

    @classmethod
    def of(cls, lane: Lane, directory: str, name: str) -> Self:
        """That name as its lane is now."""
        return cls(lane=lane, directory=directory, name=name, caller=lane.caller, holds=lane.holds)

    @property
    def named(self) -> NamedFile:
        """Where it lies."""
        return NamedFile(files=self.lane.box.files, directory=self.directory, name=self.name)

    @property
    def place(self) -> tuple[str, str]:
        """The directory and the name."""
        return self.directory, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What was found under a name. file: None when nothing was read; then `verdict` is a refusal.

    key: what the store knows the request by.
    """

    candidate: Candidate
    file: ReadFile | None
    key: RequestKey | None
    verdict: ParsedRequest | FileRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNow:
    """Nothing to take under that name. is_gone: for good; else it may be right later.

    trouble: what kept us from reading it that is not the file's doing, such as too many open files.
    """

    candidate: Candidate
    is_gone: bool
    trouble: str | None = None


def read_candidate(candidate: Candidate) -> Item | NotNow:
    """Read and parse one file. Blocking."""
    return judge(candidate, read(candidate.named, MAX_REQUEST_BYTES))


def judge(candidate: Candidate, file: ReadFile | Unread) -> Item | NotNow:
    """What a file that was read, or could not be, asks for."""
    if isinstance(file, Unread):
        match file.why:
            case WhyNot.GONE:
                return NotNow(candidate=candidate, is_gone=True)
            case WhyNot.TROUBLE:
                return NotNow(candidate=candidate, is_gone=False, trouble=file.what)
            case WhyNot.BUSY if not candidate.lane.is_left:
                return NotNow(candidate=candidate, is_gone=False)
            case _:
                return _unread(candidate, file.what)
    box = candidate.lane.box
    key = RequestKey(
        box=box.name,
        directory=candidate.directory,
        name=candidate.name,
        inode=file.inode & _SIGNED_64,  # some file systems use all 64 bits; the store has a sign
        ctime_ns=file.ctime_ns,
        sha256=hashlib.sha256(file.raw).digest(),
    )
    verdict = parse_request(candidate.directory, file.raw)
    if not is_file_name(candidate.name.removesuffix(REQUEST_SUFFIX)):
        verdict = _misnamed(candidate.name, verdict)
    return Item(candidate=candidate, file=file, key=key, verdict=verdict)


def refuse_unread(candidate: Candidate, refusal: FileRefusal) -> Item | NotNow:
    """As `read_candidate`, of a file that is not done whatever it asks for; it is kept with the reason."""
    found = read_candidate(candidate)
    if isinstance(found, NotNow):
        return found if found.is_gone else Item(candidate=candidate, file=None, key=None, verdict=refusal)
    return replace(found, verdict=replace(refusal, request_id=found.verdict.request_id))


def _unread(candidate: Candidate, message: str) -> Item:
    refusal = FileRefusal(
        code=ErrorCode.INVALID_REQUEST,
        message=message,
        suggestion="Write a regular file of at most 1 MiB under a temporary name and rename it in.",
    )
    return Item(candidate=candidate, file=None, key=None, verdict=refusal)


def _misnamed(name: str, verdict: ParsedRequest | FileRefusal) -> FileRefusal:
    refusal = FileRefusal(
        code=ErrorCode.INVALID_REQUEST,
        message=f"{printable(name)[:200]!r} is no name for a request file.",
        suggestion="Use letters, digits, '.', '_' and '-', at most 128, beginning with one of the first two.",
    )
    return replace(refusal, request_id=verdict.request_id)
