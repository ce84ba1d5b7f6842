"""A Python that has loaded Dovecote and waits: asked to, it forks into a command `dovecote` of its own.

Loading is most of what a short command takes of the processor, and the tests start hundreds of them. What is
forked differs from a fresh start in nothing else that a command can see: arguments, environment, directory,
session, standard streams and random numbers are its own. It is run by `warm_start`.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import selectors
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any, Final

NUMBER: Final = struct.Struct("i")
"""What is told of a command: its pid, and later its wait status."""
_ASKED_BYTES: Final = 1 << 17
_PACKAGES: Final = ("api", "app", "cli", "commands", "core", "engine", "ipc", "runners", "store")
_LIBRARIES: Final = ("fastapi", "httpx", "rich.console", "rich.markdown", "uvicorn")
_STREAMS: Final = (("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1))


@dataclass(frozen=True, slots=True)
class _Command:
    """What to become. streams: the descriptors of its standard streams."""

    arguments: list[str]
    environment: dict[str, str]
    directory: str
    is_session: bool
    streams: list[int]


def main() -> None:
    """Load, then fork for each request on the socket that is given as a descriptor, until it is closed."""
    _load()
    asked = socket.socket(fileno=int(sys.argv[1]))
    command = _serve(asked)
    if command is not None:
        _become(command)
        runpy.run_module("orchestrator", run_name="__main__", alter_sys=True)


def _load() -> None:
    for package in _PACKAGES:
        found = importlib.import_module(f"orchestrator.{package}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)
    for library in _LIBRARIES:
        importlib.import_module(library)
    assert len(os.listdir("/proc/self/task")) == 1, "what is loaded has begun a thread, so a fork is not safe"
    gc.collect()
    gc.freeze()


def _serve(asked: socket.socket) -> _Command | None:
    """A command, in the process that is to become it; None in ours, when nobody asks any longer."""
    with selectors.DefaultSelector() as looks:
        looks.register(asked, selectors.EVENT_READ)
        while True:
            for key, _ in looks.select():
                if key.fileobj is asked:
                    request, descriptors, _, _ = socket.recv_fds(asked, _ASKED_BYTES, 4)
                    if not request:
                        return None
                    *streams, told = descriptors
                    pid = os.fork()
                    if pid == 0:
                        asked.close()
                        return _Command(**json.loads(request), streams=streams)
                    for each in streams:
                        os.close(each)
                    os.write(told, NUMBER.pack(pid))
                    looks.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, told))
                else:
                    looks.unregister(key.fileobj)
                    _tell_end(key.fd, *key.data)


def _tell_end(handle: int, pid: int, told: int) -> None:
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(BrokenPipeError):  # who started it does not wait for it
        os.write(told, NUMBER.pack(status))
    os.close(told)
    os.close(handle)


def _become(command: _Command) -> None:
    for place, descriptor in enumerate(command.streams):
        os.dup2(descriptor, place)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if command.is_session:
        os.setsid()
    os.environ.clear()
    os.environ.update(command.environment)
    time.tzset()
    random.seed()
    os.chdir(command.directory)
    sys.path[0] = command.directory
    sys.argv[1:] = command.arguments
    for place, (name, mode, buffering) in enumerate(_STREAMS):
        _renew(name, place, mode, buffering)


def _renew(name: str, place: int, mode: str, buffering: int) -> None:
    """Nothing of what our own stream has learnt of its file may stay: whether it is a terminal, for one."""
    ours: Any = getattr(sys, name)
    stream = open(  # noqa: SIM115 - as long as the process
        place, mode, buffering, encoding=ours.encoding, errors=ours.errors, closefd=False
    )
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    main()
