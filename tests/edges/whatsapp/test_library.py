"""The library hands events over on threads of its own."""

import subprocess
import sys
from typing import Final

import pytest

TWO_AT_ONCE: Final = """
import asyncio, ctypes, sys, threading
from pathlib import Path
from types import SimpleNamespace
from neonize.events import EVENT_TO_INT, MessageEv
from orchestrator.channels.whatsapp.library import Ears, Library

rows, met = [], threading.Event()

def row(kind, raw):
    rows.append(kind)
    if len(rows) == 2:
        met.set()
    if met.wait(0.3):
        print("two at once")
    rows.pop()

async def main():
    event = SimpleNamespace(list_func={}, execute=None, qr=lambda show: None)
    client = SimpleNamespace(event=event, me=None)
    ears = Ears(row=row, state=print, qr=print)
    library = Library(Path("session"), ears, make_client=lambda session: client)
    raw = ctypes.create_string_buffer(b"x", 1)
    words = (0, ctypes.addressof(raw), 1, EVENT_TO_INT[MessageEv])
    threads = [threading.Thread(target=event.execute, args=words) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

asyncio.run(main())
"""


def test_events_on_several_threads_are_kept_one_at_a_time() -> None:
    pytest.importorskip("magic", exc_type=ImportError)

    done = subprocess.run([sys.executable, "-c", TWO_AT_ONCE], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
