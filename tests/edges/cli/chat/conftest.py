"""`dovecote chat` and `dovecote serve`, as processes, with agents of the process runner."""

import contextlib
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.warm_start import WarmStart

Serve = Callable[[], "subprocess.Popen[str]"]
StartChat = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """As everywhere, with the runner that every machine has."""
    return {
        **environment,
        "DOVECOTE_AGENT__RUNNER": "process",
        "DOVECOTE_SHUTDOWN_GRACE_S": "5",
    }


@pytest.fixture
def serve(home: Path, environment: dict[str, str], warm: WarmStart) -> Iterator[Serve]:
    """Starts `dovecote serve` and waits until it is ready; ends it at the end."""
    with contextlib.ExitStack() as stack:

        def start() -> subprocess.Popen[str]:
            daemon = stack.enter_context(
                warm(
                    "serve",
                    cwd=home,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(daemon.kill)
            assert daemon.stderr is not None
            for line in daemon.stderr:
                if json.loads(line)["event"] == "dovecote.ready":
                    return daemon
            raise AssertionError("serve ended before it was ready")

        yield start


@pytest.fixture
def start_chat(home: Path, environment: dict[str, str], warm: WarmStart) -> Iterator[StartChat]:
    """Starts `dovecote chat` with pipes; it is ended at the end if it has not."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> subprocess.Popen[str]:
            talk = stack.enter_context(
                warm(
                    "chat",
                    *arguments,
                    cwd=home,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(talk.kill)
            return talk

        yield start


def say(talk: "subprocess.Popen[str]", line: str) -> None:
    """Give a running chat one more line."""
    assert talk.stdin is not None
    talk.stdin.write(line + "\n")
    talk.stdin.flush()


def next_line(talk: "subprocess.Popen[str]") -> str:
    """What a running chat prints next."""
    assert talk.stdout is not None
    return talk.stdout.readline()


def end_of(talk: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit code, and what the chat said on standard error."""
    _, said = talk.communicate(timeout=40)
    return talk.returncode, said


_STILL_S = 0.2
_STILL_WITHIN_S = 5.0


class Screen:
    """A chat on a pseudo-terminal."""

    def __init__(self, talk: "subprocess.Popen[bytes]", ours: int) -> None:
        self.talk = talk
        self._ours = ours
        self._unread = ""

    def keys(self, keys: bytes) -> None:
        """Press them at a prompt once the screen is still: while it is drawn a terminal may lose keys."""
        deadline = time.monotonic() + _STILL_WITHIN_S
        while time.monotonic() < deadline and select.select([self._ours], [], [], _STILL_S)[0]:
            self._read()
        os.write(self._ours, keys)

    def _read(self) -> None:
        self._unread += os.read(self._ours, 65536).decode("utf-8", "replace")

    def until(self, wanted: str, *, within_s: float = 25) -> str:
        """What is shown from here on, until `wanted` is in it."""
        deadline = time.monotonic() + within_s
        while wanted not in _plain(self._unread):
            left = deadline - time.monotonic()
            assert left > 0, _plain(self._unread)
            ready, _, _ = select.select([self._ours], [], [], left)
            if ready:
                self._read()
        before, _, self._unread = _plain(self._unread).partition(wanted)
        return before + wanted

    def end(self) -> tuple[int, str]:
        """The exit code, and what was shown until then."""
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(self._ours, 65536):
                self._unread += chunk.decode("utf-8", "replace")
        return self.talk.wait(timeout=30), _plain(self._unread)


def _plain(screen: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]", "", screen)


OpenScreen = Callable[..., Screen]


@pytest.fixture
def open_screen(home: Path, environment: dict[str, str], warm: WarmStart) -> Iterator[OpenScreen]:
    """Starts `dovecote chat`, or another command, on a pseudo-terminal of its own."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, command: str = "chat") -> Screen:
            ours, theirs = os.openpty()
            stack.callback(os.close, ours)
            talk = stack.enter_context(
                warm(
                    command,
                    *arguments,
                    cwd=home,
                    env={**environment, "TERM": "xterm-256color"},
                    stdin=theirs,
                    stdout=theirs,
                    stderr=theirs,
                    start_new_session=True,
                )
            )
            stack.callback(talk.kill)
            os.close(theirs)
            return Screen(talk, ours)

        yield start
