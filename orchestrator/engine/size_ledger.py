"""What the directories of each group held at the last look, and whose hold too much for a start."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.contracts.ids import BoxName, GroupFolder
from orchestrator.core.dir_budgets import Growth

_SELDOM_S: Final = 30.0
_OFTEN_S: Final = 2.0
_SHARE: Final = 20
"""A look may take this part of the time between two, so small directories are looked at more often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGroup:
    """A group with live agents, and their boxes."""

    group: GroupFolder
    boxes: tuple[BoxName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """At the last look. next_at: when the next one is due; `at` and it are monotonic seconds."""

    at: float
    size_bytes: int
    first_bytes: int
    per_s: float
    next_at: float
    was_live: bool


class SizeLedger:
    """Changed from the loop's thread only."""

    def __init__(self) -> None:
        self._seen: dict[GroupFolder, _Seen] = {}
        self._full: set[GroupFolder] = set()

    def is_full(self, group: GroupFolder) -> bool:
        """Whether its files take more than they may, so that no agent of it is started."""
        return group in self._full

    def set_full(self, group: GroupFolder) -> None:
        """They take too much."""
        self._full.add(group)

    def set_fitting(self, group: GroupFolder) -> None:
        """They do not any more."""
        self._full.discard(group)

    def due(self, live: Collection[GroupFolder], now: float) -> list[GroupFolder]:
        """Who is to be looked at: groups with live agents, once more after an end, and full ones."""
        ended = {group for group, seen in self._seen.items() if seen.was_live} - set(live)
        wanted = [*dict.fromkeys([*live, *ended, *self._full])]
        return [group for group in wanted if (seen := self._seen.get(group)) is None or seen.next_at <= now]

    def note(self, group: GroupFolder, size_bytes: int, *, began: float, ended: float, is_live: bool) -> None:
        """They held this much in a look between these moments."""
        before = self._seen.get(group)
        pause_s = min(max(_SHARE * (ended - began), _OFTEN_S), _SELDOM_S)
        fresh = _Seen(
            at=ended,
            size_bytes=size_bytes,
            first_bytes=size_bytes,
            per_s=0.0,
            next_at=ended + pause_s,
            was_live=is_live,
        )
        if before is not None and before.was_live:
            passed_s = max(ended - before.at, 0.001)
            per_s = (size_bytes - before.size_bytes) / passed_s
            fresh = replace(fresh, first_bytes=before.first_bytes, per_s=per_s)
        if is_live or group in self._full:
            self._seen[group] = fresh
        else:
            self._seen.pop(group, None)

    def growths(self, live: Collection[GroupFolder]) -> list[Growth]:
        """How the files of these groups grew."""
        return [
            Growth(group=group, recent_per_s=seen.per_s, in_all=seen.size_bytes - seen.first_bytes)
            for group in live
            if (seen := self._seen.get(group)) is not None
        ]
