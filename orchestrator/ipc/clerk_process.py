"""The clerk from our side: a child process at the other end of a line. Blocking, one call at a time."""

import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Final, Self, TypeVar

from orchestrator.ipc.clerk import CALM_MS, READY
from orchestrator.ipc.clerk_line import Job, LineEnded, receive_files, receive_outcomes, send_job
from orchestrator.ipc.file_work import Outcome, Unread
from orchestrator.store.entry import ReadFile

T = TypeVar("T")

_END_S: Final = 5.0


class ClerkLost(Exception):
    """The clerk is gone, so nobody knows what of the last job was done: it has to be done again."""


class ClerkProcess:
    """A running clerk. Made by `start`."""

    def __init__(self, process: "subprocess.Popen[bytes]", line: socket.socket) -> None:
        self._process = process
        self._line = line
        self._is_ready = False

    @classmethod
    def start(cls, *, calm_ms: int = CALM_MS) -> Self:
        """Start it; it may be given jobs once `is_ready`. Raises OSError.

        calm_ms: so long after a reply it removes nothing, if it is not told that no other comes.
        """
        ours, theirs = socket.socketpair()
        try:
            words = [sys.executable, "-I", "-m", "orchestrator.ipc.clerk", str(theirs.fileno()), str(calm_ms)]
            process = subprocess.Popen(
                words,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={},
            )
        except BaseException:  # whatever it is, the line has no other owner yet
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(process, ours)

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def is_ready(self) -> bool:
        """Whether it has said that it is there; waits for nothing. Raises ClerkLost."""
        if not self._is_ready:
            try:
                said = self._line.recv(len(READY), socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                raise ClerkLost(str(error)) from error
            if said != READY:
                raise ClerkLost("it ended before it was ready")
            self._is_ready = True
        return True

    def do(self, job: Job) -> list[Outcome]:
        """Have replies written and requests taken out; how each went, in order. Raises ClerkLost."""
        return self._asked(job, receive_outcomes, count=len(job.replies) + len(job.requests))

    def read(self, job: Job) -> list[ReadFile | Unread]:
        """Have files read; what was in each, in order. Raises ClerkLost."""
        return self._asked(job, receive_files, count=len(job.named))

    def _asked(self, job: Job, receive: Callable[[socket.socket], list[T]], *, count: int) -> list[T]:
        try:
            send_job(self._line, job)
            answers = receive(self._line)
        except (LineEnded, OSError, ValueError) as error:
            raise ClerkLost(str(error)) from error
        if len(answers) != count:
            raise ClerkLost("it answered another question")
        return answers

    def end(self) -> None:
        """Send it home and see it gone."""
        self._line.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
