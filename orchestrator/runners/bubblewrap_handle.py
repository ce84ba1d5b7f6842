"""One agent in a bubblewrap sandbox."""

import asyncio
import json
import os
import select
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Final

from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.runners import mount_check, procfs
from orchestrator.runners.cgroup import Cgroup
from orchestrator.runners.child import Child, SideChannel
from orchestrator.runners.memory_watch import MemoryWatch
from orchestrator.runners.mount_check import OpenMount
from orchestrator.runners.procfs import ProcessKey

KILLED: Final = 128 + signal.SIGKILL


class Sandbox:
    """The processes of a sandbox from outside: bwrap, which watches, and the first process within.

    Whoever kills the first process kills everything inside, for it is init of its own PID namespace.
    """

    def __init__(
        self,
        *,
        child: Child,
        status: SideChannel,
        status_transport: asyncio.BaseTransport,
        init: ProcessKey,
        init_pidfd: int,
        cgroup: Cgroup | None,
        executor: Executor,
    ) -> None:
        self.child = child
        self.init = init
        self.cgroup = cgroup
        self._status = status
        self._status_transport = status_transport
        self._pidfd: int | None = init_pidfd
        self._executor = executor

    def kill(self) -> None:
        """Kill everything inside at once, and bwrap."""
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self.child.process.kill()

    def terminate(self) -> None:
        """SIGTERM to the agent runner itself; one that has not begun yet is killed."""
        inside = procfs.children(self.init.pid) if not self.is_gone() else []
        if not inside:
            self.kill()
            return
        with suppress(ProcessLookupError):
            os.kill(inside[0], signal.SIGTERM)

    def is_gone(self) -> bool:
        """Whether the kernel says that the first process, and so everything inside, is dead."""
        if self._pidfd is None:
            return True
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(0))

    async def ended(self) -> int:
        """The exit code, once it has ended and nothing of it runs any more."""
        # A status without the code: bwrap itself was killed.
        words = await asyncio.shield(self._status.rest)
        await self.child.reap()
        self.kill()
        await self._wait_until_gone()
        for line in words.splitlines():
            with suppress(ValueError):
                if (code := json.loads(line).get("exit-code")) is not None:
                    return int(code)
        return KILLED

    async def _wait_until_gone(self) -> None:
        if self._pidfd is None or self.is_gone():
            return
        loop = asyncio.get_running_loop()
        # A descriptor of its own: several may wait, and the loop knows each only once.
        mine = os.dup(self._pidfd)
        gone = loop.create_future()
        try:
            loop.add_reader(mine, lambda: None if gone.done() else gone.set_result(None))
            await gone
        finally:
            loop.remove_reader(mine)
            os.close(mine)

    async def close(self) -> None:
        """Kill what is left and give back descriptors and the control group. May be called again."""
        loop = asyncio.get_running_loop()
        self.kill()
        try:
            await self._wait_until_gone()
            await self.child.reap()
            if self.cgroup is not None:
                await loop.run_in_executor(self._executor, self.cgroup.remove)
        finally:
            self._status_transport.close()
            self.child.close()
            if self._pidfd is not None:
                os.close(self._pidfd)
                self._pidfd = None


class BubblewrapHandle:
    """A started agent. Implements `AgentHandle`."""

    is_legacy = False

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        mounts: Sequence[OpenMount],
        watch: MemoryWatch | None,
        executor: Executor,
    ) -> None:
        self._sandbox = sandbox
        self._mounts = tuple(mounts)
        self._watch = watch
        self._executor = executor
        self._exit: ExitStatus | None = None

    @property
    def process_ref(self) -> str:
        """The first process inside by pid and start time, and the control groups."""
        cgroup = self._sandbox.cgroup
        return json.dumps(
            {
                "pid": self._sandbox.init.pid,
                "start_ticks": self._sandbox.init.start_ticks,
                "cgroups": [str(path) for path in cgroup.directories] if cgroup else [],
            }
        )

    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """Compare what is mounted with the plan. Raises StartFailed."""
        loop = asyncio.get_running_loop()
        pid = self._sandbox.init.pid
        try:
            found = await loop.run_in_executor(self._executor, mount_check.differences, pid, self._mounts)
        except PermissionError:
            # An unprivileged host user may not look; bwrap mounted what we had opened.
            found = mount_check.reported_differences(reported, self._mounts)
        except FileNotFoundError:
            found = ["the agent has ended"]
        mount_check.refuse_differences(found)

    async def write_input(self, line: bytes) -> None:
        """Write standard input to its end and close it. Raises StartFailed."""
        await self._sandbox.child.write_input(line)

    def output(self) -> AsyncIterator[bytes]:
        """Standard output in chunks until its end."""
        return self._sandbox.child.output()

    def log_output(self) -> AsyncIterator[bytes]:
        """Standard error in chunks until its end."""
        return self._sandbox.child.log_output()

    async def wait(self) -> ExitStatus:
        """How it ended, once it has."""
        if self._exit is None:
            code = await self._sandbox.ended()
            self._exit = ExitStatus(code=code, is_oom=code != 0 and self._ran_out_of_memory())
            if self._watch is not None:
                self._watch.stop()
        return self._exit

    async def terminate(self) -> None:
        """SIGTERM to the agent runner. No error if it is gone."""
        self._sandbox.terminate()

    async def kill(self) -> None:
        """End it and everything inside at once. No error if it is gone."""
        self._sandbox.kill()

    async def is_gone(self) -> bool:
        """Whether nothing of it runs any more, as the kernel says."""
        return self._sandbox.is_gone()

    async def close(self) -> None:
        """Give back descriptors and the control group; what still runs is killed."""
        if self._watch is not None:
            self._watch.stop()
        # The group's count of kills is read before the group goes.
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                self._sandbox.kill()
                await self.wait()
        await self._sandbox.close()

    def _ran_out_of_memory(self) -> bool:
        cgroup = self._sandbox.cgroup
        return (self._watch is not None and self._watch.has_killed) or (
            cgroup is not None and cgroup.has_run_out_of_memory()
        )
