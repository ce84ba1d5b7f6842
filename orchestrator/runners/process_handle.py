"""One agent without walls, and the lifeline that holds it."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from typing import Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.runners import procfs
from orchestrator.runners.child import Child, SideChannel
from orchestrator.runners.procfs import ProcessKey

_START_S: Final = 20.0
_STOP_S: Final = 5.0
_LOOK_AGAIN_S: Final = 0.02
_KILLED: Final = 128 + signal.SIGKILL


class ProcessHandle:
    """A started agent, held by its lifeline. Implements `AgentHandle`."""

    is_legacy = False

    def __init__(
        self, child: Child, line: SideChannel, transport: asyncio.Transport, *, executor: Executor
    ) -> None:
        self._child = child
        self._line = line
        self._transport = transport
        self._executor = executor
        self._lifeline = procfs.key_of(child.process.pid)
        self._agent: ProcessKey | None = None
        self._group: int | None = None

    async def started(self) -> None:
        """Wait until the agent runs. Raises StartFailed."""
        try:
            async with asyncio.timeout(_START_S):
                words = await asyncio.shield(self._line.first_line)
        except TimeoutError as error:
            raise StartFailed("The agent did not start in time.") from error
        match (words or b"").split(b" ", 1):
            case [b"started", pid]:
                self._group = int(pid)
                self._agent = procfs.key_of(self._group)
            case [b"failed", reason]:
                raise StartFailed(f"The agent can't be started: {reason.decode(errors='replace')}.")
            case _:
                raise StartFailed(f"The agent can't be started: {await self._child.last_words()}")

    @property
    def process_ref(self) -> str:
        """The lifeline and the agent, by pid and start time."""
        keys = [key for key in (self._lifeline, self._agent) if key is not None]
        return json.dumps([{"pid": key.pid, "start_ticks": key.start_ticks} for key in keys])

    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """There are none."""

    async def write_input(self, line: bytes) -> None:
        """Write standard input to its end and close it. Raises StartFailed."""
        await self._child.write_input(line)

    def output(self) -> AsyncIterator[bytes]:
        """Standard output in chunks until its end."""
        return self._child.output()

    def log_output(self) -> AsyncIterator[bytes]:
        """Standard error in chunks until its end."""
        return self._child.log_output()

    async def wait(self) -> ExitStatus:
        """How it ended, once it has."""
        words = await asyncio.shield(self._line.rest)
        await self._child.reap()
        self._kill_left_behind()
        await self._see_its_group_go()
        match words.split():
            case [b"ended", code]:
                return ExitStatus(code=int(code))
        return ExitStatus(code=_KILLED)

    async def terminate(self) -> None:
        """SIGTERM to the agent runner. No error if it is gone."""
        self._tell(b"t")

    async def kill(self) -> None:
        """End it and its process group at once. No error if it is gone."""
        self._tell(b"k")

    async def is_gone(self) -> bool:
        """Whether the lifeline and everything in the agent's process group is gone."""
        if self._child.process.poll() is None:
            return False
        if self._group is None:
            return True
        loop = asyncio.get_running_loop()
        return not await loop.run_in_executor(self._executor, procfs.group_is_running, self._group)

    async def close(self) -> None:
        """Give back descriptors; what still runs is killed."""
        # Its end of the line ends: the lifeline kills the group, whatever the agent is doing.
        self._transport.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._child.reap()
        except TimeoutError:
            self._child.process.kill()
            await self._child.reap()
        finally:
            self._kill_left_behind()
            self._child.close()

    async def _see_its_group_go(self) -> None:
        """What was killed with the agent needs a moment to go; of what is not our child nobody tells us."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                while True:
                    if await self.is_gone():
                        return
                    await asyncio.sleep(_LOOK_AGAIN_S)

    def _tell(self, word: bytes) -> None:
        if not self._line.rest.done() and not self._transport.is_closing():
            self._transport.write(word)

    def _kill_left_behind(self) -> None:
        """If the lifeline itself was killed, its agent is left to us; its number must still be its own."""
        if self._agent is not None and procfs.is_running(self._agent):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._agent.pid, signal.SIGKILL)


def keys_in(ref: str | None) -> list[ProcessKey]:
    """The processes that a `process_ref` names; none if it is not one of ours."""
    try:
        found = json.loads(ref or "null")
    except ValueError:
        return []
    keys: list[ProcessKey] = []
    for each in found if isinstance(found, list) else []:
        match each:
            case {"pid": int(pid), "start_ticks": int(start_ticks)}:
                keys.append(ProcessKey(pid=pid, start_ticks=start_ticks))
    return keys
