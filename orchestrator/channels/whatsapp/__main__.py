"""The WhatsApp child as a program, `python -m orchestrator.channels.whatsapp`; the orchestrator starts it."""

import argparse
import asyncio
import ctypes
import fcntl
import os
import platform
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from orchestrator.channels.whatsapp.child import ChildPlan, Purpose, live
from orchestrator.channels.whatsapp.library import Ears, Library, MakeClient, neonize_client
from orchestrator.channels.whatsapp.lines import VERSION, Hello, LinkState, StateIs
from orchestrator.channels.whatsapp.port import LinePort
from orchestrator.channels.whatsapp.session import linked_ids
from orchestrator.channels.whatsapp.spool import SpoolRows
from orchestrator.channels.whatsapp.translate import Me

_PR_SET_PDEATHSIG: Final = 1
_THREADS: Final = 32
_IN_USE: Final = "another process holds the WhatsApp session"


def main(argv: Sequence[str], *, make_client: MakeClient = neonize_client) -> int:
    """Live until the parent is gone or the link is. Returns the exit code only where no life began.

    The end is at once: an ordinary exit would wait for threads that hang in the library.
    """
    options = _options(argv)
    os.umask(0o077)
    # A service manager tells all processes to stop; the parent still has texts for us then.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _die_with_parent()
    options.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Held for life: two clients on one session throw each other out for ever.
    lock = os.open(options.spool, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        asyncio.run(_refuse(options))
        return 1
    asyncio.run(_live_and_end(options, SpoolRows(options.spool), make_client))
    return 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dovecote-whatsapp")
    parser.add_argument("--descriptor", type=int, required=True)
    parser.add_argument("--generation", type=int, required=True)
    parser.add_argument("--session", type=Path, required=True)
    parser.add_argument("--spool", type=Path, required=True)
    parser.add_argument("--purpose", type=Purpose, choices=list(Purpose), default=Purpose.RUN)
    parser.add_argument("--has-owner", action="store_true")
    parser.add_argument("--not-before-ms", type=int)
    parser.add_argument("--beat-s", type=float, default=5.0)
    return parser.parse_args(argv)


def _die_with_parent() -> None:
    """A parent that is killed takes us with it, however stuck we are; elsewhere the closed port must do."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _refuse(options: argparse.Namespace) -> None:
    port = await LinePort.on(socket.socket(fileno=options.descriptor))
    generation = options.generation
    port.put(Hello(generation=generation, version=VERSION, library=""))
    port.put(StateIs(generation=generation, state=LinkState.FAILED, why=_IN_USE))
    await port.close()


async def _live(options: argparse.Namespace, rows: SpoolRows, make_client: MakeClient) -> None:
    def make_library(session: Path, ears: Ears) -> Library:
        return Library(session, ears, make_client=make_client)

    before_ms = options.not_before_ms
    me = Me(
        ids=frozenset(linked_ids(options.session)),
        has_owner=options.has_owner,
        not_before=None if before_ms is None else datetime.fromtimestamp(before_ms / 1000, UTC),
    )
    plan = ChildPlan(
        session=options.session,
        purpose=options.purpose,
        generation=options.generation,
        me=me,
        beat_s=options.beat_s,
    )
    # The library's calls each take a thread for as long as they last; uploads may last minutes.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="call"))
    port = await LinePort.on(socket.socket(fileno=options.descriptor))
    await live(port, rows, plan, make_library)


async def _live_and_end(options: argparse.Namespace, rows: SpoolRows, make_client: MakeClient) -> None:
    code = 0
    try:
        await _live(options, rows, make_client)
    except BaseException:  # the last words are for the parent, and nothing may keep us from ending
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
