"""The clerk: a program of ours that reads request files, writes replies and takes files away while many come.

It is told what to do over one line, and ends when that does. Killed anywhere it has done no harm: what it
did not report is done again, and the files that still wait for their removal go at the next start.
"""

import resource
import select
import signal
import socket
import sys
from typing import Final

from orchestrator.ipc.clerk_line import Job, LineEnded, receive_job, send_files, send_outcomes
from orchestrator.ipc.file_work import Fate, Outcome, ReplyFile, read, take_out, write_reply, write_reply_into
from orchestrator.ipc.removals import Removals

READY: Final = b"r"
MAX_READ_BYTES: Final = 64 * 1024
"""Of one file; what is larger is not worth the way over the line."""
CALM_MS: Final = 300
"""So long after a reply nothing is removed, unless we hear that it was the last one for now: an ext4 without
a journal looks for the place of a new file by passing over each one that was removed lately."""


def main() -> int:
    """Serve the line whose descriptor is the first word, until it ends; the second is as `CALM_MS`."""
    # Whoever stops Dovecote in a terminal stops the whole group: we end when the line does.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with socket.socket(fileno=int(sys.argv[1])) as line:
        try:
            line.sendall(READY)
            _serve(line, calm_ms=int(sys.argv[2]))
        except (LineEnded, ConnectionError):
            pass
    return 0


def _serve(line: socket.socket, *, calm_ms: int) -> None:
    removals, pause_ms = Removals(), 0
    poll = select.poll()
    poll.register(line, select.POLLIN)
    while True:
        if removals.count and not poll.poll(pause_ms):
            pause_ms = 0
            removals.do_some()
            continue
        job = receive_job(line)
        if job.named:
            _read(line, job)
            continue
        outcomes = _do(job, removals)
        send_outcomes(line, outcomes)
        if job.replies:
            pause_ms = calm_ms
        elif not job.requests:
            pause_ms = 0
        if any(outcome.fate is Fate.FAILED for outcome in outcomes):
            removals.do_all()  # perhaps the disk is full of them
        removals.keep_bounds()


def _read(line: socket.socket, job: Job) -> None:
    try:
        send_files(line, [read(named, MAX_READ_BYTES) for named in job.named])
    finally:
        for files in job.boxes:
            files.close()


def _do(job: Job, removals: Removals) -> list[Outcome]:
    try:
        outcomes = [_write(reply, removals) for reply in job.replies]
        for request in job.requests:
            outcome = take_out(request)
            if outcome.fate is Fate.DONE:
                removals.add(request)
            outcomes.append(outcome)
    finally:
        for files in job.boxes:
            files.close()
    return outcomes


def _write(reply: ReplyFile, removals: Removals) -> Outcome:
    spare = removals.spare(reply.files)
    return write_reply(reply) if spare is None else write_reply_into(reply, *spare)


if __name__ == "__main__":
    sys.exit(main())
