"""What a watcher of directories has to do: give hints. Nothing depends on one arriving."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from orchestrator.contracts.ids import BoxName


class BoxDirectory(NamedTuple):
    """A directory of a box."""

    box: BoxName
    directory: str


Report = Callable[[frozenset[BoxDirectory] | None], None]
"""Called on the loop's thread with the places where something may have come; None: look everywhere."""


class Hints(Protocol):
    """Says soon where a file was renamed in. May say too much, late, or nothing; polling is the truth.

    Places may be added and removed before and while `run` runs, on the loop's thread.
    """

    def add(self, place: BoxDirectory, path: Path) -> None:
        """Watch that directory from now on. Raises OSError when it cannot be watched."""
        ...

    def remove(self, place: BoxDirectory) -> None:
        """Watch it no more. No error if it was not watched, or is gone."""
        ...

    async def run(self, report: Report) -> None:
        """Report until cancelled. Raises OSError when the watch is lost."""
        ...

    def close(self) -> None:
        """Give everything back. May be called again; nothing else may be called afterwards."""
        ...
