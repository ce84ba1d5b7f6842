"""Python's garbage collector in a process that runs for months."""

import gc
from typing import Final

_NEW_OBJECTS: Final = 10_000
"""So many more than before are made before young garbage is looked for; a batch of requests makes as many."""


def leave_loaded_alone() -> None:
    """Look no more through what is loaded by now, since it stays: each time takes 50 ms, and all wait."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
