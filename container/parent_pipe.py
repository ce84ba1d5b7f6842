"""Dying with the orchestrator where no wall does it: an inherited pipe closes when it is gone."""

import os
import signal
import threading
from collections.abc import MutableMapping
from typing import Final

PARENT_PIPE_VARIABLE: Final = "DOVECOTE_PARENT_PIPE"
"""Number of the inherited descriptor; only the orchestrator holds the other end, and never writes."""


def die_with_parent(environment: MutableMapping[str, str]) -> None:
    """End this process, and its group if it leads one, as soon as the orchestrator is gone.

    Nothing happens where the environment names no pipe. The variable is taken out, since children
    do not inherit the descriptor.
    """
    number = environment.pop(PARENT_PIPE_VARIABLE, None)
    if number is None:
        return
    descriptor = int(number)
    os.set_inheritable(descriptor, False)
    # A thread, because it must also fire while a driver keeps the event loop busy.
    threading.Thread(target=_wait_and_die, args=(descriptor,), name="parent pipe", daemon=True).start()


def _wait_and_die(descriptor: int) -> None:
    while os.read(descriptor, 512):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(128 + signal.SIGKILL)
