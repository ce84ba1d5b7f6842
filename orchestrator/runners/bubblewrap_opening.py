"""From a launch plan to a sandbox whose walls stand and whose limits hold, before the agent begins.

bwrap sets everything up, then waits at a gate, a socket of ours. Meanwhile its first process inside is
put into its control group and given its limits, which all it starts will inherit.
"""

import asyncio
import json
import os
import resource
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.runners import procfs, walls
from orchestrator.runners.bubblewrap_command import (
    BoundMount,
    Descriptors,
    HostSystem,
    bubblewrap_arguments,
)
from orchestrator.runners.bubblewrap_handle import BubblewrapHandle, Sandbox
from orchestrator.runners.cgroup import PREFIX, Cgroup, Parents
from orchestrator.runners.child import Child, SideChannel, listen_on, spawn
from orchestrator.runners.memory_watch import MemoryWatch
from orchestrator.runners.programs import Interpreter, Programs
from orchestrator.runners.walls import OpenMount

LABEL: Final = "bwrap:dovecote"
"""Begins the first command word of every sandbox; the instance and the agent follow."""
_SETUP_S: Final = 20.0
# A Python with threads takes more addresses than memory.
_ADDRESSES_BESIDE_MEMORY: Final = 512 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What all starts share; found once, by trying. takes_descriptors: bwrap can mount what was opened."""

    bwrap: str
    takes_descriptors: bool
    system: HostSystem
    interpreter: Interpreter
    programs: Programs
    parents: Parents


async def open_sandbox(
    plan: LaunchPlan, equipment: Equipment, *, user_namespace: int | None, executor: Executor
) -> BubblewrapHandle:
    """Start the plan's agent in its walls. Raises StartFailed."""
    loop = asyncio.get_running_loop()
    name = f"{PREFIX}{plan.instance_id}-{plan.agent_id}"
    group = await loop.run_in_executor(executor, Cgroup.make, equipment.parents, name, plan.limits)
    try:
        with walls.opened_mounts(plan) as mounts, ExitStack() as stack:
            gate, their_gate = socket.socketpair()
            stack.callback(gate.close)
            gate.setblocking(False)
            with their_gate:
                child, status, status_transport = await _spawn(
                    plan,
                    equipment,
                    mounts,
                    gate=their_gate.fileno(),
                    namespace=user_namespace,
                    executor=executor,
                )
            sandbox = await _meet(child, status, status_transport, group=group, executor=executor)
            try:
                _limit(plan, sandbox, group)
                await _open_gate(gate, sandbox)
            except BaseException:
                await sandbox.close()
                raise
    except BaseException:
        executor.submit(group.remove)
        raise
    watch = None if "memory" in group.limited else _watch(plan, sandbox, executor)
    return BubblewrapHandle(sandbox, mounts=mounts, watch=watch, executor=executor)


async def _spawn(
    plan: LaunchPlan,
    equipment: Equipment,
    mounts: Sequence[OpenMount],
    *,
    gate: int,
    namespace: int | None,
    executor: Executor,
) -> tuple[Child, SideChannel, asyncio.BaseTransport]:
    with ExitStack() as stack:
        ours, status = os.pipe()
        stack.callback(os.close, status)
        arguments = bubblewrap_arguments(
            plan,
            system=equipment.system,
            programs=equipment.programs,
            interpreter=equipment.interpreter,
            mounts=[_bound(each, equipment) for each in mounts],
            descriptors=Descriptors(status=status, gate=gate, user_namespace=namespace),
        )
        # Not on the command line: every user of the host may read that.
        words = os.memfd_create("arguments")
        stack.callback(os.close, words)
        end_of_options = arguments.index("--")
        os.write(words, b"".join(os.fsencode(word) + b"\0" for word in arguments[:end_of_options]))
        os.lseek(words, 0, os.SEEK_SET)
        passed = [status, gate, words, *(each.descriptor for each in mounts)]
        try:
            child = await spawn(
                [
                    f"{LABEL}:{plan.instance_id}:{plan.agent_id}",
                    *("--args", str(words)),
                    *arguments[end_of_options:],
                ],
                executable=equipment.bwrap,
                environment={},
                descriptors=passed if namespace is None else [*passed, namespace],
                executor=executor,
            )
        except OSError as error:
            os.close(ours)
            raise StartFailed(f"{equipment.bwrap} can't be started: {error.strerror}.") from error
        return child, *await listen_on(ours)


async def _meet(
    child: Child,
    status: SideChannel,
    status_transport: asyncio.BaseTransport,
    *,
    group: Cgroup,
    executor: Executor,
) -> Sandbox:
    """Learn which process is the first one inside. By then it is bound to die with us."""
    try:
        async with asyncio.timeout(_SETUP_S):
            line = await asyncio.shield(status.first_line)
        if line is None:
            raise StartFailed(f"bwrap could not build the walls: {await child.last_words()}")
        pid = int(json.loads(line)["child-pid"])
        pidfd = os.pidfd_open(pid)
        key = procfs.key_of(pid)
        if key is None:
            os.close(pidfd)
            raise StartFailed(f"bwrap could not build the walls: {await child.last_words()}")
    except BaseException as error:
        child.process.kill()
        executor.submit(child.process.wait)
        child.close()
        status_transport.close()
        if isinstance(error, TimeoutError | ProcessLookupError):
            raise StartFailed("bwrap did not say that it has started.") from error
        raise
    return Sandbox(
        child=child,
        status=status,
        status_transport=status_transport,
        init=key,
        init_pidfd=pidfd,
        cgroup=group,
        executor=executor,
    )


def _limit(plan: LaunchPlan, sandbox: Sandbox, group: Cgroup) -> None:
    limits, pid = plan.limits, sandbox.init.pid
    wanted = {
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_FSIZE: limits.file_size_bytes,
        resource.RLIMIT_CORE: 0,
    }
    if "memory" not in group.limited and not plan.runs_model_commands:
        # Of each process, and of addresses: only for a driver that is known to need few.
        wanted[resource.RLIMIT_AS] = limits.memory_bytes + _ADDRESSES_BESIDE_MEMORY
    try:
        group.add(pid)
        for kind, value in wanted.items():
            if sys.platform == "linux":
                resource.prlimit(pid, kind, (value, value))
    except (OSError, ValueError) as error:
        raise StartFailed(f"The limits of the agent could not be set: {error}.") from error


async def _open_gate(gate: socket.socket, sandbox: Sandbox) -> None:
    """Let the agent begin, and see that bwrap took our word: it does so only once all is set up."""
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(gate, b"1")
        async with asyncio.timeout(_SETUP_S):
            # It closes its end: a clean end says that it read, a reset that it died with our word unread.
            await loop.sock_recv(gate, 1)
    except (ConnectionError, TimeoutError) as error:
        sandbox.kill()
        raise StartFailed(f"bwrap could not build the walls: {await sandbox.child.last_words()}") from error


def _watch(plan: LaunchPlan, sandbox: Sandbox, executor: Executor) -> MemoryWatch:
    watch = MemoryWatch(
        pid=sandbox.init.pid,
        limit_bytes=plan.limits.memory_bytes,
        kill=sandbox.kill,
        executor=executor,
    )
    watch.start()
    return watch


def _bound(opened: OpenMount, equipment: Equipment) -> BoundMount:
    return BoundMount(
        source=str(opened.mount.source),
        target=opened.mount.target,
        is_writable=opened.mount.is_writable,
        descriptor=opened.descriptor if equipment.takes_descriptors else None,
    )
