"""The keeper of all boxes: makes, watches, empties and removes them."""

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self

import structlog

from orchestrator.commands.execute import unwritten_replies
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import BoxName, TurnId
from orchestrator.contracts.seams import BoxPort
from orchestrator.ipc import emptying
from orchestrator.ipc.box import Box, is_box_name
from orchestrator.ipc.box_writer import BoxWriter
from orchestrator.ipc.hints import Hints
from orchestrator.ipc.intake import Intake
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.threads import in_thread
from orchestrator.ipc.upkeep import Upkeep
from orchestrator.ipc.watcher import Watcher
from orchestrator.store.dir_removal import Removal, remove_dir
from orchestrator.store.refusals import ERRORS
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.spreading import spread_children
from orchestrator.store.unsafe import UnsafeEntry, Vanished

_log = structlog.get_logger(__name__)
_GONE: Final = ".gone-"
_THREADS: Final = 4
"""Two for the intake, one for a removal, and one that is free for a follow-up."""
_SLICE: Final = 2_000
_MAX_BOXES: Final = 100_000


class BoxKeeper:
    """Implements `Boxes`. Made by `open`; `run` is the watching and the intake; `close` at the end."""

    def __init__(
        self,
        services: Services,
        *,
        path: Path,
        ipc: SafeDir,
        errors: SafeDir,
        limits: IntakeLimits,
        poll_s: float,
        make_hints: Callable[[], Hints] | None,
        on_violation: Callable[[BoxName, str], None],
    ) -> None:
        self._services = services
        self._path = path
        self._ipc = ipc
        self._executor = ThreadPoolExecutor(_THREADS, "boxes")
        self._quarantine = Quarantine(errors)
        self._writers: dict[BoxName, BoxWriter] = {}
        self._guard = asyncio.Lock()
        self._intake = Intake(
            services,
            quarantine=self._quarantine,
            executor=self._executor,
            limits=limits,
            on_violation=on_violation,
        )
        self._watcher = Watcher(
            make_hints=make_hints,
            executor=self._executor,
            poll_s=poll_s,
            report=self._intake.look,
            on_replaced=self._replaced,
        )
        self._upkeep = Upkeep(
            boxes=lambda: [writer.box for writer in self._writers.values()],
            intake=self._intake,
            quarantine=self._quarantine,
            limits=limits,
            clock=services.clock,
            executor=self._executor,
            guard=self._guard,
        )

    @classmethod
    async def open(
        cls,
        services: Services,
        *,
        path: Path,
        limits: IntakeLimits,
        poll_s: float,
        make_hints: Callable[[], Hints] | None,
        on_violation: Callable[[BoxName, str], None],
    ) -> Self:
        """The keeper of the boxes below `path`, which is `data/ipc` and exists.

        make_hints: None for polling only. on_violation: called on the loop with a box and a sentence
        for the operator, once a run and sentence; stopping the agent is the callee's.
        """
        ipc, errors = await asyncio.to_thread(_open_ground, path)
        return cls(
            services,
            path=path,
            ipc=ipc,
            errors=errors,
            limits=limits,
            poll_s=poll_s,
            make_hints=make_hints,
            on_violation=on_violation,
        )

    async def run(self) -> None:
        """Write the replies an earlier process could not, then watch and take, until cancelled."""
        for left_over in (self._write_replies_left_over, self._dispose_left_over):
            try:
                await left_over()
            except (UnsafeEntry, OSError, Unavailable) as error:
                # Nobody waits for it; the next start tries again.
                _log.error("boxes.not_cleared", what=left_over.__name__.strip("_"), error=str(error))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watcher.run(), name="watch boxes")
            tasks.create_task(self._intake.run(), name="take requests")
            tasks.create_task(self._upkeep.run(), name="upkeep of boxes")

    async def make(self, name: BoxName, *, uid: int | None, gid: int | None) -> BoxPort:
        """The box, empty and with the right owner and modes; what an earlier run left is removed."""
        await self.remove(name)
        box = await in_thread(self._executor, lambda: Box.make(self._ipc, _checked(name), uid=uid, gid=gid))
        return self._writer(box)

    async def reopen(self, name: BoxName) -> BoxPort | None:
        """A box that lies on the disk; None if there is none."""
        if (writer := self._writers.get(name)) is not None:
            return writer
        box = await in_thread(self._executor, lambda: Box.reopen(self._ipc, _checked(name)))
        return None if box is None else self._writer(box)

    def path_of(self, name: BoxName) -> str:
        """Where it lies on the host."""
        return str(self._path / _checked(name))

    def watch(self, caller: AgentCaller, box: BoxPort) -> None:
        """Take its requests from now on, by the rights of `caller`."""
        opened = self._writers[box.name].box
        self._intake.add(caller, opened)
        self._watcher.add(opened, self._path / box.name)

    def set_turn(self, box: BoxName, turn_id: TurnId | None) -> None:
        """Requests taken from now on belong to that turn; None: to the run outside of any turn."""
        if (lane := self._intake.lane(box)) is not None:
            lane.set_turn(turn_id)

    async def take_waiting_texts(self, box: BoxName, *, at_most_s: float) -> None:
        """Take every request that lies in `messages/` now, before a text is: the order is the agent's own.

        at_most_s: how long requests over the rate are waited for; what is left then comes after the text.
        """
        await emptying.take_waiting_texts(self._intake, box, at_most_s=at_most_s)

    async def drain(self, caller: AgentCaller, box: BoxPort) -> None:
        """Take the requests left, by the rights the agent had; what is beyond one burst is refused."""
        await emptying.drain(self._intake, caller, self._writers[box.name].box)

    async def remove(self, name: BoxName) -> None:
        """Stop watching it and remove it with all that is in it."""
        gone = await self._take_out(name)
        if gone is not None:
            await self._dispose(gone)

    async def set_aside(self, name: BoxName) -> None:
        """Move a box that no agent is known for to `errors/`, with all that is in it."""
        await self._let_go(name)
        now = self._services.clock.now()
        with contextlib.suppress(Vanished):
            await in_thread(
                self._executor, lambda: self._quarantine.take_in(self._ipc, _checked(name), at=now)
            )

    async def names(self) -> list[BoxName]:
        """The boxes that lie on the disk."""

        def boxes() -> list[BoxName]:
            names, _ = self._ipc.names(_MAX_BOXES)
            found = [name for name in names if is_box_name(name)]
            return [
                BoxName(name)
                for name in found
                if (entry := self._ipc.entry(name)) is not None and entry.is_dir
            ]

        return await in_thread(self._executor, boxes)

    async def close(self) -> None:
        """Give every descriptor and thread back; the boxes stay on the disk. `run` has ended."""
        for name in list(self._writers):
            await self._let_go(name)
        await self._intake.end()
        self._quarantine.close()
        self._ipc.close()
        self._executor.shutdown(wait=False)

    def _writer(self, box: Box) -> BoxWriter:
        writer = BoxWriter(box, self._executor, self._services.clock)
        self._writers[box.name] = writer
        return writer

    async def _let_go(self, name: BoxName) -> None:
        """Close the box; every part that may be busy with it has ended with it by then."""
        writer = self._writers.pop(name, None)
        await self._watcher.remove(name)
        await self._intake.remove(name)
        if writer is not None:
            async with self._guard:
                await writer.close()

    async def _take_out(self, name: BoxName) -> str | None:
        """Free the name at once; the new name of what lay there, None if nothing did."""
        await self._let_go(name)
        gone = f"{_GONE}{secrets.token_hex(8)}"

        def rename() -> str | None:
            try:
                self._ipc.rename(_checked(name), gone)
            except Vanished:
                return None
            return gone

        return await in_thread(self._executor, rename)

    async def _dispose(self, gone: str) -> None:
        """Remove what was renamed away, in slices, so that follow-ups of other boxes are not held up."""
        is_done = False
        while not is_done:
            removal = await in_thread(self._executor, lambda: self._remove_slice(gone))
            is_done = removal is None or removal.is_done
            if removal is not None and removal.is_done and removal.left:
                _log.error(
                    "box.not_removed",
                    path=str(self._path / gone),
                    left=len(removal.left),
                    suggestion="Remove it by hand; it is not used any more.",
                )

    def _remove_slice(self, gone: str) -> Removal | None:
        try:
            with self._ipc.own_child(gone) as directory:
                removal = remove_dir(directory, max_entries=_SLICE)
            if removal.is_done and not removal.left:
                self._ipc.remove_empty(gone)
        except Vanished:
            return None
        except UnsafeEntry:  # a link or a file stood in the box's place
            self._ipc.remove(gone)
            return None
        except OSError as error:  # another user's, or a failing disk: it is out of the way as it is
            _log.error("box.not_removed", path=str(self._path / gone), error=str(error))
            return None
        return removal

    async def _write_replies_left_over(self) -> None:
        for name, reply in await unwritten_replies(self._services):
            writer = await self.reopen(name) if is_box_name(name) else None
            if writer is not None:
                with contextlib.suppress(Vanished):
                    await writer.write_reply(reply)

    async def _dispose_left_over(self) -> None:
        for name in await in_thread(self._executor, lambda: self._ipc.names(_MAX_BOXES)[0]):
            if name.startswith(_GONE):
                await self._dispose(name)

    def _replaced(self, name: BoxName, directory: str) -> None:
        if (lane := self._intake.lane(name)) is not None:
            self._intake.report(lane, f"The directory {directory}/ was removed or exchanged for another.")


def _open_ground(path: Path) -> tuple[SafeDir, SafeDir]:
    """The directory of the boxes and, in it, that of what was refused."""
    ipc = SafeDir.open(path)
    spread_children(ipc.fileno())  # one box is nothing to another
    try:
        if ipc.entry(ERRORS) is None:
            return ipc, ipc.make_child(ERRORS, mode=0o700)
        return ipc, ipc.child(ERRORS)
    except BaseException:
        ipc.close()
        raise


def _checked(name: BoxName) -> BoxName:
    """`name`; an error of ours if it is not a box's."""
    if not is_box_name(name):
        raise ValueError(f"not a box's name: {name!r}")
    return name
