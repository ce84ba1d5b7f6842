"""How an agent stands, in the words that people read: the same in a terminal and in a chat."""

from typing import Final

_WORDS: Final = {"pending": "queued", "timed_out": "timed out"}
"""Where a status is not said as it is spelled."""


_STOPPED: Final = {
    "cascade": "stopped with what had started it",
    "manual": "stopped",
    "timeout": "stopped because its time was over",
    "orphan_cleanup": "stopped because what had started it was gone",
}


def stopped_in_words(reason: str, asker: str | None = None) -> str:
    """Why an agent was stopped, as what one says of it: `stopped by the operator`.

    asker: who asked for that, as in `asker_in_words`.
    """
    words = _STOPPED.get(reason, "stopped, for a reason that is not known here")
    return f"{words} by {asker_in_words(asker)}" if reason == "manual" and asker else words


def asker_in_words(asker: str) -> str:
    """Who asked for something. asker: `operator`, `key:` and the name of an API key, or an agent's id."""
    if asker == "operator":
        return "the operator"
    name = asker.removeprefix("key:")
    return f"agent {asker}" if name == asker else f"the API key {name}"


_QUEUED_BY: Final = {
    "max_running": "as many agents are at work as may be (queue.max_running)",
    "max_live": "as many agents live as may (queue.max_live)",
    "kept_for_chats": "the places that are left are kept for chats (queue.max_live)",
    "tree_share": "its tree has its half of the places while others wait (queue.max_running, queue.max_live)",
    "others_first": "the places that are left are for trees of which nobody is at work",
    "group_full": "the files of its group have no room (dovecote doctor)",
    "disk_full": "the disk has no room (dovecote doctor)",
    "parent_queued": "what asked for it is queued too",
    "restart_delay": "it has ended, and is started again after a pause",
}


def queued_in_words(reason: str) -> str:
    """What keeps an agent from its start, after `waits: `."""
    return _QUEUED_BY.get(reason, reason)


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
