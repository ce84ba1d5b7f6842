"""What goes between us and the clerk: jobs with descriptors one way, outcomes the other. Blocking.

Both ends are our own programs of one version; a line that ends or speaks differently is a lost clerk.
"""

import json
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.contracts.wire.boxes import REPLIES
from orchestrator.ipc.box_files import BoxFiles
from orchestrator.ipc.file_work import Fate, NamedFile, Outcome, ReplyFile, RequestFile, Unread, WhyNot
from orchestrator.store.entry import FileMark, ReadFile
from orchestrator.store.safe_dir import SafeDir

_HEAD: Final = struct.Struct("!III")
"""How many descriptors come, how many bytes of JSON behind them, and how many of files behind that."""
_AT_ONCE: Final = 200
"""Descriptors in one message; Linux takes 253."""
_CARRIER: Final = b"d"


class LineEnded(Exception):
    """The other end is gone, or speaks another language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Files to be read, replies to be written or requests to be taken out. boxes: what they lie in.

    One with nothing in it says that no other is known to come.
    """

    named: Sequence[NamedFile] = ()
    replies: Sequence[ReplyFile] = ()
    requests: Sequence[RequestFile] = ()
    boxes: Sequence[BoxFiles] = ()


def send_job(line: socket.socket, job: Job) -> None:
    """Hand a job over, with the descriptors that it needs. Raises LineEnded or OSError."""
    wanted: dict[BoxFiles, dict[str, None]] = {}
    for reply in job.replies:
        wanted.setdefault(reply.files, {})[REPLIES] = None
    for named in job.named:
        wanted.setdefault(named.files, {})[named.directory] = None
    for request in job.requests:
        wanted.setdefault(request.files, {})[request.directory] = None
    numbers = {files: number for number, files in enumerate(wanted)}
    plain = {
        "boxes": [[files.readers_gid, list(names)] for files, names in wanted.items()],
        "named": [[numbers[each.files], each.directory, each.name] for each in job.named],
        "replies": [[numbers[each.files], each.request_id, each.text] for each in job.replies],
        "requests": [
            [
                numbers[each.files],
                each.directory,
                each.name,
                each.seen.inode,
                each.seen.size,
                each.seen.mtime_ns,
            ]
            for each in job.requests
        ],
    }
    descriptors = [
        directory.fileno()
        for files, names in wanted.items()
        for directory in (files.root, *(files.directories[name] for name in names))
    ]
    _send(line, plain, descriptors=descriptors)


def receive_job(line: socket.socket) -> Job:
    """The next job; its descriptors are the caller's to close. Raises LineEnded."""
    plain, descriptors, _ = _receive(line)
    left = iter(descriptors)
    boxes: list[BoxFiles] = []
    for readers_gid, names in plain["boxes"]:
        root = SafeDir(next(left))
        directories = {name: SafeDir(next(left)) for name in names}
        boxes.append(BoxFiles(root, directories, readers_gid=readers_gid))
    return Job(
        boxes=boxes,
        named=[
            NamedFile(files=boxes[box], directory=directory, name=name)
            for box, directory, name in plain["named"]
        ],
        replies=[
            ReplyFile(files=boxes[box], request_id=name, text=text) for box, name, text in plain["replies"]
        ],
        requests=[
            RequestFile(
                files=boxes[box],
                directory=directory,
                name=name,
                seen=FileMark(inode=inode, size=size, mtime_ns=mtime_ns),
            )
            for box, directory, name, inode, size, mtime_ns in plain["requests"]
        ],
    )


def send_outcomes(line: socket.socket, outcomes: Sequence[Outcome]) -> None:
    """Say how each went, in the order of the job. Raises OSError when the other end is gone."""
    _send(line, [[outcome.fate.value, outcome.why] for outcome in outcomes])


def receive_outcomes(line: socket.socket) -> list[Outcome]:
    """How each of the last job's went. Raises LineEnded."""
    plain, _, _ = _receive(line)
    return [Outcome(Fate(fate), why) for fate, why in plain]


def send_files(line: socket.socket, found: Sequence[ReadFile | Unread]) -> None:
    """Hand over what was read, in the order of the job. Raises OSError when the other end is gone."""
    plain = [
        [each.why.value, each.what]
        if isinstance(each, Unread)
        else [each.inode, each.ctime_ns, each.mtime_ns, each.size]
        for each in found
    ]
    _send(line, plain, raw=b"".join(each.raw for each in found if isinstance(each, ReadFile)))


def receive_files(line: socket.socket) -> list[ReadFile | Unread]:
    """What was read of the last job's files. Raises LineEnded."""
    plain, _, raw = _receive(line)
    found: list[ReadFile | Unread] = []
    at = 0
    for why_or_inode, *rest in plain:
        if isinstance(why_or_inode, str):
            found.append(Unread(WhyNot(why_or_inode), rest[0]))
            continue
        ctime_ns, mtime_ns, size = rest
        part = raw[at : at + size]
        found.append(ReadFile(raw=part, inode=why_or_inode, ctime_ns=ctime_ns, mtime_ns=mtime_ns))
        at += size
    return found


def _send(line: socket.socket, plain: Any, *, descriptors: Sequence[int] = (), raw: bytes = b"") -> None:
    text = json.dumps(plain, separators=(",", ":")).encode()
    line.sendall(_HEAD.pack(len(descriptors), len(text), len(raw)))
    for first in range(0, len(descriptors), _AT_ONCE):
        socket.send_fds(line, [_CARRIER], list(descriptors[first : first + _AT_ONCE]))
    line.sendall(text + raw)


def _receive(line: socket.socket) -> tuple[Any, list[int], bytes]:
    count, text_size, raw_size = _HEAD.unpack(_exactly(line, _HEAD.size))
    descriptors: list[int] = []
    while len(descriptors) < count:
        wanted = min(count - len(descriptors), _AT_ONCE)
        carrier, some, _, _ = socket.recv_fds(line, len(_CARRIER), wanted)
        descriptors += some
        if carrier != _CARRIER or len(some) != wanted:  # too many are open here, or the other end is gone
            for descriptor in descriptors:
                os.close(descriptor)
            raise LineEnded("descriptors were lost on the line")
    text = _exactly(line, text_size)
    return json.loads(text), descriptors, _exactly(line, raw_size)


def _exactly(line: socket.socket, size: int) -> bytes:
    raw = bytearray()
    while len(raw) < size:
        part = line.recv(min(size - len(raw), 1 << 20))
        if not part:
            raise LineEnded("the line was closed")
        raw += part
    return bytes(raw)
