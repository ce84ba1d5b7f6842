"""Starts commands `dovecote` as processes, by forking a Python that has loaded them already."""

import inspect
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.warm_python import NUMBER

_ROOT: Final = Path(__file__).resolve().parents[2]
_ENVIRONMENT: Final = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(_ROOT)}
_READ_AT_START: Final = ("PYTHON", "LANG", "LC_")
"""What Python heeds before any program of ours: who changes that needs a start from cold."""
_AS_IS: Final = {"LANG": "C.UTF-8", "PYTHONPATH": str(_ROOT)}


class WarmStart:
    """Start commands by it as by `subprocess.Popen`. Close it in the end."""

    def __init__(self) -> None:
        self._asks, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with asked:
            self._python = subprocess.Popen(
                [sys.executable, "-m", "tests.support.warm_python", str(asked.fileno())],
                cwd=_ROOT,
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[asked.fileno()],
            )

    def __call__(
        self, *arguments: str, cwd: Path, env: Mapping[str, str], **popen: Any
    ) -> "subprocess.Popen[Any]":
        """The process of `dovecote` with these arguments; popen: as `subprocess.Popen` takes it."""
        words = [sys.executable, "-m", "orchestrator", *arguments]
        heeded = {name: value for name, value in env.items() if name.startswith(_READ_AT_START)}
        if heeded != _AS_IS:
            return subprocess.Popen(words, cwd=cwd, env=env, **popen)
        return _Forked(self, words, cwd=cwd, env=env, **popen)

    def close(self) -> None:
        """End the one that waits; commands that run are not touched."""
        self._asks.close()
        self._python.wait(timeout=30)

    def fork(self, request: Mapping[str, object], streams: list[int]) -> int:
        """Where the pid, then the wait status of a new process can be read."""
        told, tells = os.pipe()
        try:
            socket.send_fds(self._asks, [json.dumps(request).encode()], [*streams, tells])
        finally:
            os.close(tells)
        return told


class _Forked(subprocess.Popen[Any]):
    """A process that is another's child: that one starts it and tells when it has ended.

    It stands on three methods of `Popen` that are not public: no other way gives the rest of it.
    """

    def __init__(self, start: WarmStart, words: list[str], **popen: Any) -> None:
        self._start = start
        super().__init__(words, **popen)

    def _execute_child(self, *given: Any) -> None:
        named = inspect.signature(super()._execute_child).bind(*given).arguments  # type: ignore[misc]
        streams = [named["p2cread"], named["c2pwrite"], named["errwrite"]]
        request = {
            "arguments": named["args"][3:],
            "environment": dict(named["env"]),
            "directory": str(named["cwd"]),
            "is_session": bool(named["start_new_session"]),
        }
        try:
            own = [place if each == -1 else each for place, each in enumerate(streams)]
            self._told = self._start.fork(request, own)
            (self.pid,) = NUMBER.unpack(os.read(self._told, NUMBER.size))
            self._child_created = True
        finally:
            pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            self._close_pipe_fds(*(named[each] for each in pipes))  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        wait_s = 0 if wait_flags & os.WNOHANG else None
        if not select.select([self._told], [], [], wait_s)[0]:
            return 0, 0
        (status,) = NUMBER.unpack(os.read(self._told, NUMBER.size))
        os.close(self._told)
        return self.pid, status

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode
