"""The directory that a container sees, with the socket in it, for one agent and nobody else."""

import contextlib
import hashlib
import os
import socket
from pathlib import Path
from typing import Final, Self

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.egress import EGRESS_SOCKET

_BACKLOG: Final = 128
_OURS: Final = 0o700
# The agent's own uid passes and connects; it has nothing to write there.
_AGENTS: Final = 0o500
_SOCKET: Final = 0o600


class SocketDirectory:
    """A directory below `parent`. One that an earlier process made is taken over: containers may hold it."""

    def __init__(self, path: Path, uid: int | None) -> None:
        self.path = path
        self._uid = uid

    @classmethod
    def of(cls, parent: Path, agent: AgentId, uid: int | None) -> Self:
        """Where the socket of `agent` belongs. uid: who connects; None: our own user."""
        return cls(parent / directory_name(agent), uid)

    def listen(self) -> socket.socket:
        """A listening socket. Raises OSError."""
        self.path.mkdir(mode=_OURS, exist_ok=True)
        here = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fchmod(here, _OURS)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(EGRESS_SOCKET, dir_fd=here)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self._bind(listener, here)
            except OSError:
                listener.close()
                raise
        finally:
            os.close(here)
        return listener

    def remove(self) -> None:
        """Remove socket and directory. No error if they are gone."""
        with contextlib.suppress(OSError):
            self.path.chmod(_OURS)
        with contextlib.suppress(OSError):
            (self.path / EGRESS_SOCKET).unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _bind(self, listener: socket.socket, here: int) -> None:
        # The address of a socket holds 107 bytes: through the descriptor any path fits.
        listener.bind(f"/proc/self/fd/{here}/{EGRESS_SOCKET}")
        os.chmod(EGRESS_SOCKET, _SOCKET, dir_fd=here)
        if self._uid is not None and self._uid != os.geteuid():
            os.chown(EGRESS_SOCKET, self._uid, -1, dir_fd=here, follow_symlinks=False)
            os.fchown(here, self._uid, -1)
            os.fchmod(here, _AGENTS)
        listener.listen(_BACKLOG)
        listener.setblocking(False)


def directory_name(agent: AgentId) -> str:
    """A short name for the agent's directory, the same in every process."""
    return hashlib.sha256(agent.encode()).hexdigest()[:12]
