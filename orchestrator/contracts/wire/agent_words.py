"""How an agent stands, in the words that people read: the same in a terminal and in a chat."""

from typing import Final

_WORDS: Final = {"pending": "queued", "timed_out": "timed out"}
"""Where a status is not said as it is spelled."""


_STOPPED: Final = {
    "cascade": "stopped with what had started it",
    "manual": "stopped by somebody",
    "timeout": "stopped because its time was over",
    "orphan_cleanup": "stopped because what had started it was gone",
}


def stopped_in_words(reason: str) -> str:
    """Why an agent was stopped, as what one says of it: `stopped by somebody`."""
    return _STOPPED.get(reason, "stopped")


def stand_of(lifecycle: str, *, activity: str | None = None, waits_for: int = 0) -> str:
    """How an agent stands: what it does while it runs, else its status.

    lifecycle: its status. activity: what it is doing, where that is known. waits_for: for how many others.
    """
    if lifecycle != "running":
        return _WORDS.get(lifecycle, lifecycle)
    if activity == "waiting_input":
        return "waits for an answer"
    if waits_for:
        return f"waits for {waits_for} helper{'' if waits_for == 1 else 's'}"
    return "idle" if activity == "idle" else "running"
