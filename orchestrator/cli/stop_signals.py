"""SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, a second Ctrl-C ends the process at once."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ask_on_signals(ask: Callable[[signal.Signals], None]) -> None:
    """Call `ask` on the first signal that means: end."""
    loop = asyncio.get_running_loop()

    def once(received: signal.Signals) -> None:
        end_on_interrupt()
        ask(received)

    for each in _SIGNALS:
        loop.add_signal_handler(each, once, each)


def end_on_interrupt() -> None:
    """From now on Ctrl-C ends the process at once; another request for an orderly end changes nothing.

    What dies with us dies by its pipe; what does not is swept at the next start.
    """
    loop = asyncio.get_running_loop()
    loop.remove_signal_handler(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for each in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(each, _nothing)


def _nothing() -> None:
    """The orderly end is under way."""
