"""Watches what agents' files take: workspace and session homes of each group, walked in a thread.

Each is looked at within 60 s while its agent lives, small ones every 2 s. Over its budget the agent is
stopped, and no other is started until the files fit again. Source: contracts.md section 3.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.commands.usage.dir_budgets import Overfull, known_overfull, note_fitting, note_overfull, why
from orchestrator.contracts.ids import GroupFolder, agent_of_box, is_own_box
from orchestrator.contracts.records.dir_sizes import DirBudget, DirSize
from orchestrator.core.dir_budgets import Growth, excess_of
from orchestrator.engine.persistence import persist
from orchestrator.engine.size_ledger import LiveGroup, SizeLedger
from orchestrator.store.dir_size import measure_dir
from orchestrator.store.group_folders import WORKSPACE
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import NotADir, UnsafeEntry, Vanished

_log = structlog.get_logger(__name__)
_TICK_S: Final = 1.0
_BETWEEN_SLICES_S: Final = 0.005
"""So that a large directory takes half of a processor at most, and the loop is not kept waiting."""
_BOX: Final = DirBudget(max_bytes=1 << 62, max_entries=100_000)
"""Boxes have budgets of their own, held by their keeper; here they only count for growth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dir:
    """A directory below `root`, by the names on the way. place: what people call it."""

    root: Path
    names: tuple[str, ...]
    place: str
    budget: DirBudget


class SizeWatch:
    """Looks while `run` runs. live: groups with agents. stop: ends all agents of a group, if there are."""

    def __init__(
        self,
        services: Services,
        ledger: SizeLedger,
        *,
        live: Callable[[], Sequence[LiveGroup]],
        stop: Callable[[GroupFolder], bool],
    ) -> None:
        self._services = services
        self._ledger = ledger
        self._live = live
        self._stop = stop
        self._one_at_a_time = asyncio.Lock()

    async def run(self) -> None:
        """Take up what an earlier process knew, then look again and again, until cancelled."""
        for group in await persist(self._services, known_overfull):
            self._ledger.set_full(group)
        async with asyncio.TaskGroup() as tasks:
            while True:
                live = [each.group for each in self._live()]
                for group in self._ledger.due(live, self._now_s()):
                    await self._look(group, tasks)
                await asyncio.sleep(_TICK_S)

    async def growths(self, groups: Collection[GroupFolder]) -> list[Growth]:
        """How the files of these groups grew up to now; they are looked at for it."""
        for group in groups:
            await self._measure(group)
        return self._ledger.growths(groups)

    async def _look(self, group: GroupFolder, tasks: asyncio.TaskGroup) -> None:
        overfull = await self._measure(group)
        was_full = self._ledger.is_full(group)
        if overfull is not None and not was_full:
            self._ledger.set_full(group)
            was_stopped = self._stop(group)
            _log.error("files.over_budget", group=group, why=why(overfull, "en"), was_stopped=was_stopped)
            tasks.create_task(self._tell_full(group, overfull, was_stopped=was_stopped), name=f"tell {group}")
        elif overfull is None and was_full:
            self._ledger.set_fitting(group)
            _log.info("files.within_budget", group=group)
            tasks.create_task(self._tell_fitting(group), name=f"tell {group}")

    async def _measure(self, group: GroupFolder) -> Overfull | None:
        """Note how much there is; the first of its directories that is over its budget."""
        async with self._one_at_a_time:
            began, total, found = self._now_s(), 0, None
            for directory in self._dirs(group):
                size = await _size_of(directory)
                total += size.size_bytes
                excess = excess_of(size, directory.budget)
                if excess is not None and found is None:
                    found = Overfull(place=directory.place, budget=directory.budget, excess=excess)
            is_live = any(each.group == group for each in self._live())
            self._ledger.note(group, total, began=began, ended=self._now_s(), is_live=is_live)
            return found

    def _dirs(self, group: GroupFolder) -> list[_Dir]:
        limits, paths = self._services.settings.agent, self._services.paths
        workspace = DirBudget(max_bytes=limits.workspace_bytes, max_entries=limits.max_files)
        home = DirBudget(max_bytes=limits.home_bytes, max_entries=limits.max_files)
        boxes = [box for each in self._live() if each.group == group for box in each.boxes]
        return [
            _Dir(
                root=paths.groups,
                names=(group, WORKSPACE),
                place=f"groups/{group}/{WORKSPACE}",
                budget=workspace,
            ),
            *(
                _Dir(root=paths.sessions, names=(name,), place=f"data/sessions/{name}", budget=home)
                for name in (group, *(box for box in boxes if is_own_box(box)))
            ),
            *(
                _Dir(root=paths.workspaces, names=(name,), place=f"data/workspaces/{name}", budget=workspace)
                for box in boxes
                if is_own_box(box)
                for name in (box, agent_of_box(box))
            ),
            *(_Dir(root=paths.ipc, names=(box,), place=f"data/ipc/{box}", budget=_BOX) for box in boxes),
        ]

    async def _tell_full(self, group: GroupFolder, overfull: Overfull, *, was_stopped: bool) -> None:
        services, at = self._services, self._services.clock.now()
        await persist(
            services, lambda tx: note_overfull(tx, services, group, overfull, was_stopped=was_stopped, at=at)
        )

    async def _tell_fitting(self, group: GroupFolder) -> None:
        services, at = self._services, self._services.clock.now()
        await persist(services, lambda tx: note_fitting(tx, services, group, at=at))

    def _now_s(self) -> float:
        return self._services.clock.monotonic()


async def _size_of(directory: _Dir) -> DirSize:
    """What it holds; nothing where there is none. A disk that cannot be read says nothing against it."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_measure_in_slices, directory, stop)
    except Vanished:
        return DirSize()
    except NotADir:
        return DirSize(is_exchanged=True)
    except (UnsafeEntry, OSError) as error:
        _log.warning("files.not_measured", place=directory.place, error=str(error))
        return DirSize()
    finally:
        stop.set()  # a thread that nobody waits for any more ends after its slice


def _measure_in_slices(directory: _Dir, stop: threading.Event) -> DirSize:
    with (
        SafeDir.open(directory.root) as root,
        root.descend(directory.names) as top,
        closing(measure_dir(top, directory.budget)) as walk,
    ):
        while not stop.is_set():
            try:
                next(walk)
            except StopIteration as end:
                size: DirSize = end.value
                return size
            stop.wait(_BETWEEN_SLICES_S)
    return DirSize()
