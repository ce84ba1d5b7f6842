"""One agent in a Docker container."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Event
from typing import Any, Final

import docker
import docker.errors
import requests.exceptions

from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.runners import mount_check
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.docker_stream import Attachment
from orchestrator.runners.mount_check import OpenMount

_WAIT_S: Final = 20
_KILLED: Final = 137
_LIVING: Final = frozenset({"running", "paused", "restarting"})


class DockerHandle:
    """A started container. Implements `AgentHandle`. said_bytes: of an adopted one, how much it had said.

    `wait` raises Unavailable when the engine stops answering: whether the agent lives can't be known then.
    """

    def __init__(
        self,
        engine: Engine,
        container_id: str,
        *,
        streams: Attachment,
        log: Attachment,
        mounts: Sequence[OpenMount],
        is_legacy: bool,
        pid: int,
        on_lost: Callable[[str], None],
        said_bytes: int | None = None,
    ) -> None:
        self._engine = engine
        self._id = container_id
        self._streams = streams
        self._log = log
        self._mounts = tuple(mounts)
        self._is_legacy = is_legacy
        self._pid = pid
        self._on_lost = on_lost
        self._said_bytes = said_bytes
        self._is_closed = Event()
        self._waiting: Future[int] | None = None
        self._exit: ExitStatus | None = None

    @property
    def process_ref(self) -> str:
        """The container's id."""
        return self._id

    @property
    def is_legacy(self) -> bool:
        """Whether the image has no label of ours."""
        return self._is_legacy

    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """Compare what is mounted with the plan. Raises StartFailed."""
        loop = asyncio.get_running_loop()
        attrs = await self._engine.call(lambda client: client.api.inspect_container(self._id))
        found = differences_of_list(attrs["Mounts"], self._mounts)
        found += await loop.run_in_executor(self._engine.calls, self._differences_inside, reported)
        mount_check.refuse_differences(found)

    def _differences_inside(self, reported: Mapping[str, str]) -> list[str]:
        """What its first process sees; where we may not look, what the agent says of it."""
        try:
            # An engine in a machine of its own counts processes there: the number may be anybody's here.
            if self._id not in Path(f"/proc/{self._pid}/cgroup").read_text():
                return []
            return mount_check.differences(self._pid, self._mounts)
        except PermissionError:
            return mount_check.reported_differences(reported, self._mounts)
        except (FileNotFoundError, ProcessLookupError):
            return []

    async def write_input(self, line: bytes) -> None:
        """Write standard input to its end and close it. Raises StartFailed.

        The engine never says that nobody reads any more, so the container's end is watched as well.
        """
        ended = self._ending()
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(self._write(line), name="write input")
            watched: set[asyncio.Future[Any]] = {writing, ended}
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            is_written = writing.done()
            writing.cancel()
        if not is_written:
            await ended  # a lost engine says so
            raise StartFailed("The agent ended before it had read its input.")
        if (error := writing.result()) is not None:
            raise error

    async def _write(self, line: bytes) -> StartFailed | None:
        try:
            await self._streams.write_input(line)
        except StartFailed as error:  # a value: raised in the group it would come out wrapped
            return error
        return None

    def output(self) -> AsyncIterator[bytes]:
        """Standard output in chunks until its end."""
        return self._streams.content() if self._said_bytes is None else self._output_again(self._said_bytes)

    async def _output_again(self, left: int) -> AsyncIterator[bytes]:
        if left == 0:
            yield b""
        async for chunk in self._streams.content():
            yield chunk
            if 0 < left <= len(chunk):
                yield b""
            left -= len(chunk)

    def log_output(self) -> AsyncIterator[bytes]:
        """Standard error in chunks until its end."""
        return self._log.content()

    async def wait(self) -> ExitStatus:
        """How it ended, once it has. Raises Unavailable when the engine is lost."""
        if self._exit is None:
            code = await asyncio.shield(self._ending())
            self._exit = ExitStatus(code=code, is_oom=code != 0 and await self._ran_out_of_memory())
        return self._exit

    async def terminate(self) -> None:
        """SIGTERM to the agent runner, passed on by the container's init. No error if it is gone."""
        await self._signal("SIGTERM")

    async def kill(self) -> None:
        """End it and everything inside at once. No error if it is gone."""
        try:
            await self._signal("SIGKILL")
        except StartFailed:
            # The engine would not; what it then may still do is remove it by force.
            await self._remove()

    async def is_gone(self) -> bool:
        """Whether the container does not run, as the engine says. No engine, no answer: False."""
        try:
            attrs = await self._engine.call(lambda client: client.api.inspect_container(self._id))
        except docker.errors.NotFound:
            return True
        except Unavailable:
            return False
        return attrs["State"]["Status"] not in _LIVING

    async def close(self) -> None:
        """Remove the container; what still runs is killed. A lost engine's is left to the runner."""
        self._is_closed.set()
        try:
            await self._remove()
        except (StartFailed, Unavailable):
            self._on_lost(self._id)
        finally:
            self._streams.close()
            self._log.close()

    def _ending(self) -> asyncio.Future[int]:
        """The exit code, once there is one; the thread that waits for it is started by who first asks."""
        if self._waiting is None:
            self._waiting = self._engine.waits.submit(self._wait_for_exit)
        ending = asyncio.wrap_future(self._waiting)
        # Who only wants to know that it ended does not look at how.
        ending.add_done_callback(lambda done: done.cancelled() or done.exception())
        return ending

    def _wait_for_exit(self) -> int:
        """Blocks a thread of its own. In slices, so that a silent engine can't hold the thread for ever."""
        while not self._is_closed.is_set():
            try:
                return self._engine.run(self._wait_once)
            except docker.errors.NotFound:
                return _KILLED
            except Unavailable as error:
                if not _is_slice_over(error):
                    raise
        return _KILLED

    def _wait_once(self, client: docker.DockerClient) -> int:
        return int(client.api.wait(self._id, timeout=_WAIT_S)["StatusCode"])

    async def _ran_out_of_memory(self) -> bool:
        try:
            attrs: Any = await self._engine.call(lambda client: client.api.inspect_container(self._id))
        except (docker.errors.NotFound, Unavailable):
            return False
        return bool(attrs["State"]["OOMKilled"])

    async def _signal(self, name: str) -> None:
        try:
            await self._engine.call(lambda client: client.api.kill(self._id, signal=name))
        except docker.errors.NotFound:
            return
        except StartFailed:
            if not await self.is_gone():
                raise

    async def _remove(self) -> None:
        await self._engine.call(lambda client: remove_container(client, self._id))


def remove_container(client: docker.DockerClient, container_id: str) -> None:
    """Kill and remove it; no error if it is gone or about to be. Blocks."""
    try:
        client.api.remove_container(container_id, force=True, v=True)
    except docker.errors.NotFound:
        return
    except docker.errors.APIError as error:
        if error.status_code != 409:  # its removal is in progress
            raise


def differences_of_list(found: Sequence[dict[str, Any]], wanted: Sequence[OpenMount]) -> list[str]:
    """Where the engine's own list of mounts is not the plan's."""
    listed = {each["Destination"]: (each["Source"], bool(each["RW"])) for each in found}
    return [
        f"{mount.target} is not mounted as planned"
        for mount in (each.mount for each in wanted)
        if listed.get(mount.target) != (str(mount.source), mount.is_writable)
    ]


def _is_slice_over(error: Unavailable) -> bool:
    return isinstance(
        error.__cause__, requests.exceptions.ReadTimeout | requests.exceptions.ConnectionError
    ) and ("timed out" in str(error.__cause__).lower())
