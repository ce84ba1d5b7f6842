"""The host's hand on one box: follow-ups, the close sentinel, replies and acks."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final, TypeVar

import structlog

from orchestrator.contracts.ids import TurnId, is_file_name
from orchestrator.contracts.seams import Clock
from orchestrator.contracts.wire.boxes import (
    ACKS,
    CLOSE_FILE_1X,
    INPUT,
    Answer,
    Close,
    FollowUp,
    temporary_name,
)
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.acks import read_acks
from orchestrator.ipc.box import Box
from orchestrator.ipc.box_files import REQUEST_SUFFIX
from orchestrator.ipc.threads import in_thread
from orchestrator.store.unsafe import HOST_TROUBLE, UnsafeEntry, Vanished

T = TypeVar("T")
_log = structlog.get_logger(__name__)
_CLOSE_SUFFIX: Final = "-close"
_NOT_A_FOLLOW_UP: Final = (_CLOSE_SUFFIX, "-answer")
_MAX_NAMES: Final = 10_000
_TRIES: Final = 20
_AGAIN_S: Final = 0.25


class BoxWriter:
    """An open box for its agent's run; implements `BoxPort`. One operation at a time.

    Raises Vanished when the agent removed the directory that is written to, OSError for a full disk.
    """

    def __init__(self, box: Box, executor: Executor, clock: Clock) -> None:
        self.name = box.name
        self.box = box
        self._executor = executor
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    async def stage_follow_up(self, follow_up: FollowUp, *, file_stem: str) -> None:
        """Write the `input/` file under its temporary name; the agent does not see it yet."""
        name = temporary_name(_file(file_stem))
        await self._do(lambda: self._write_input(name, to_json(follow_up).encode("utf-8", "replace")))

    async def publish_follow_up(self, file_stem: str) -> None:
        """Rename the staged file in. Raises Vanished when it was never staged."""
        name = _file(file_stem)
        await self._do(lambda: self.box.directory(INPUT).rename(temporary_name(name), name))

    async def discard_follow_up(self, file_stem: str) -> None:
        """Remove a staged file that will not be published. No error if it is gone."""
        name = temporary_name(_file(file_stem))

        def discard() -> None:
            with contextlib.suppress(UnsafeEntry):
                self.box.directory(INPUT).remove(name)

        await self._do(discard)

    async def unread_inputs(self) -> list[str]:
        """Stems of the follow-ups that still lie in `input/`, in order; a close sentinel is none.

        None of them, if the agent has put something else in the directory's place.
        """

        def unread() -> list[str]:
            names, _ = self.box.directory(INPUT).names(_MAX_NAMES)
            stems = [name.removesuffix(REQUEST_SUFFIX) for name in names if name.endswith(REQUEST_SUFFIX)]
            return [stem for stem in stems if is_file_name(stem) and not stem.endswith(_NOT_A_FOLLOW_UP)]

        return await self._as_far_as_it_can_be_read(unread, otherwise=[])

    async def write_answer(self, answer: Answer, *, file_stem: str) -> None:
        """Put the answer to a question of the agent into `input/`, in one step."""
        name, raw = _file(file_stem), to_json(answer).encode("utf-8", "replace")

        def write() -> None:
            uid, gid = self.box.owner
            self.box.directory(INPUT).write_atomically(name, raw, uid=uid, gid=gid)

        await self._do(write)

    async def write_close(self, *, for_legacy: bool) -> None:
        """Ask the agent to finish its turn and exit; also in the older spelling if it needs that."""
        name = f"{int(self._clock.now().timestamp() * 1000)}{_CLOSE_SUFFIX}{REQUEST_SUFFIX}"

        def write() -> None:
            uid, gid = self.box.owner
            inputs = self.box.directory(INPUT)
            inputs.write_atomically(name, to_json(Close()).encode(), uid=uid, gid=gid)
            if for_legacy:
                inputs.write_atomically(CLOSE_FILE_1X, b"", uid=uid, gid=gid)

        await self._do(write)

    async def write_reply(self, reply: Reply) -> None:
        """Put the answer into `replies/`; nothing for a request that had no id."""
        if is_file_name(reply.request_id):
            await self._do(lambda: self.box.write_reply(reply))

    async def write_snapshot(self, name: str, raw: bytes) -> None:
        """Put a file into the box itself, in one step, readable to its agent."""
        await self._do(lambda: self.box.write_snapshot(name, raw))

    async def read_acks(self) -> dict[TurnId, object]:
        """What `acks/*.json` says of turns, by turn id, oldest first; what is no ack is left out."""
        return await self._as_far_as_it_can_be_read(lambda: read_acks(self.box.directory(ACKS)), otherwise={})

    async def close(self) -> None:
        """Give the descriptors back, after what is under way."""
        await self._do(self.box.close)

    async def _do(self, work: Callable[[], T]) -> T:
        async with self._one_at_a_time:
            return await in_thread(self._executor, work)

    async def _as_far_as_it_can_be_read(self, work: Callable[[], T], *, otherwise: T) -> T:
        """What `work` returns, or `otherwise` where the agent has made that impossible.

        A burial reads so, and nothing that an agent leaves may keep it from its grave. What is our own
        trouble, such as too many open files, is waited for a while.
        """
        for _ in range(_TRIES):
            try:
                return await self._do(work)
            except UnsafeEntry as error:
                _log.warning("box.not_read", box=self.name, error=error.message)
                return otherwise
            except OSError as error:
                _log.warning("box.not_read", box=self.name, error=str(error))
                if error.errno not in HOST_TROUBLE:
                    return otherwise
            await asyncio.sleep(_AGAIN_S)
        return otherwise

    def _write_input(self, name: str, raw: bytes) -> None:
        inputs = self.box.directory(INPUT)
        uid, gid = self.box.owner
        # Anything may lie under the temporary name; what is written goes to a fresh file in any case.
        with contextlib.suppress(Vanished):
            inputs.remove(name)
        inputs.write_new(name, raw, uid=uid, gid=gid)


def _file(stem: str) -> str:
    """The file's name for a stem of ours; an error of ours if it breaks the rule."""
    if not is_file_name(stem):
        raise ValueError(f"not a file's name: {stem!r}")
    return stem + REQUEST_SUFFIX
