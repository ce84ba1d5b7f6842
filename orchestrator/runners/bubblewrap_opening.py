"""From a launch plan to a sandbox whose walls stand and whose limits hold, before the agent begins.

bwrap sets everything up, then waits at a gate, a socket of ours. Meanwhile its first process inside is
put into its control group and given its limits, which all it starts will inherit.
"""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO, Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.runners import mount_check, procfs
from orchestrator.runners.bubblewrap_command import (
    BoundMount,
    Descriptors,
    HostSystem,
    bubblewrap_arguments,
)
from orchestrator.runners.bubblewrap_handle import BubblewrapHandle, Sandbox
from orchestrator.runners.cgroup import PREFIX, Cgroup, Parents
from orchestrator.runners.child import adopt, listen_on, start_process
from orchestrator.runners.memory_watch import MemoryWatch
from orchestrator.runners.mount_check import OpenMount
from orchestrator.runners.runner_files import Interpreter, Programs

LABEL: Final = "bwrap:dovecote"
"""Begins the first command word of every sandbox; the instance and the agent follow."""
_SETUP_S: Final = 20.0
# A Python with threads takes more addresses than memory.
_ADDRESSES_BESIDE_MEMORY: Final = 512 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What all starts share; found once, by trying.

    takes_descriptors: bwrap can mount what was opened. syscalls: the kernel's filter; None: no rules are
    known for this kind of machine.
    """

    bwrap: str
    takes_descriptors: bool
    system: HostSystem
    interpreter: Interpreter
    programs: Programs
    parents: Parents
    syscalls: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Starting:
    """A bwrap that was started, and our ends: what it tells, and the gate it will wait at."""

    process: subprocess.Popen[bytes]
    status: int
    gate: socket.socket


async def open_sandbox(
    plan: LaunchPlan, equipment: Equipment, *, user_namespace: int | None, executor: Executor
) -> BubblewrapHandle:
    """Start the plan's agent in its walls. Raises StartFailed."""
    with mount_check.opened_mounts(plan) as mounts, ExitStack() as undo:
        name = f"{PREFIX}{plan.instance_id}-{plan.agent_id}"
        making = executor.submit(Cgroup.make, equipment.parents, name, plan.limits)
        undo.callback(executor.submit, lambda: making.result().remove())
        # While the group is made, bwrap sets up: nothing of the agent runs before its gate is opened.
        starting = _start_bwrap(plan, equipment, mounts, user_namespace)
        with starting.gate:
            sandbox, group = await _meet(starting, making=making, executor=executor)
            try:
                _limit(plan, sandbox, group)
                await _open_gate(starting.gate, sandbox)
            except BaseException:
                await sandbox.close()
                raise
        undo.pop_all()
    watch = None if "memory" in group.limited else _watch(plan, sandbox, executor)
    return BubblewrapHandle(sandbox, mounts=mounts, watch=watch, executor=executor)


def _start_bwrap(
    plan: LaunchPlan, equipment: Equipment, mounts: Sequence[OpenMount], user_namespace: int | None
) -> _Starting:
    gate, their_gate = socket.socketpair()
    status, their_status = os.pipe()
    gate.setblocking(False)
    try:
        with their_gate, os.fdopen(their_status, "wb") as theirs, ExitStack() as undo:
            rules: int | None = None
            if equipment.syscalls is not None:
                rules = undo.enter_context(_memory_file("syscalls", equipment.syscalls)).fileno()
            arguments = bubblewrap_arguments(
                plan,
                system=equipment.system,
                programs=equipment.programs,
                interpreter=equipment.interpreter,
                mounts=[_bound(each, equipment) for each in mounts],
                descriptors=Descriptors(
                    status=theirs.fileno(),
                    gate=their_gate.fileno(),
                    user_namespace=user_namespace,
                    syscalls=rules,
                ),
            )
            passed = [theirs.fileno(), their_gate.fileno(), *(each.descriptor for each in mounts)]
            passed += [each for each in (user_namespace, rules) if each is not None]
            process = _exec(plan, equipment.bwrap, arguments, passed)
    except BaseException:
        gate.close()
        os.close(status)
        raise
    return _Starting(process=process, status=status, gate=gate)


def _exec(
    plan: LaunchPlan, bwrap: str, arguments: Sequence[str], passed: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start bwrap with its options in a file: every user of the host may read a command line."""
    end_of_options = arguments.index("--")
    words = b"".join(os.fsencode(word) + b"\0" for word in arguments[:end_of_options])
    with _memory_file("arguments", words) as options:
        name = f"{LABEL}:{plan.instance_id}:{plan.agent_id}"
        try:
            return start_process(
                [name, "--args", str(options.fileno()), *arguments[end_of_options:]],
                executable=bwrap,
                environment={},
                descriptors=[options.fileno(), *passed],
            )
        except OSError as error:
            raise StartFailed(f"{bwrap} can't be started: {error.strerror}.") from error


def _memory_file(name: str, content: bytes) -> IO[bytes]:
    """A file without a place, to be read from its beginning."""
    file = os.fdopen(os.memfd_create(name), "wb", buffering=0)
    file.write(content)
    file.seek(0)
    return file


async def _meet(starting: _Starting, *, making: Future[Cgroup], executor: Executor) -> tuple[Sandbox, Cgroup]:
    """Learn which process is the first one inside. By then it is bound to die with us."""
    with ExitStack() as undo:
        undo.callback(executor.submit, starting.process.wait)
        undo.callback(_kill_group, starting.process)
        # Theirs until `adopt` has ended well: a start may be cut short before that.
        undo.callback(_close_pipes, starting.process)
        status, status_transport = await listen_on(starting.status)
        undo.callback(status_transport.close)
        child = await adopt(starting.process, executor)
        undo.callback(child.close)
        try:
            async with asyncio.timeout(_SETUP_S):
                line = await asyncio.shield(status.first_line)
        except TimeoutError as error:
            raise StartFailed("bwrap did not say that it has started.") from error
        pid = _child_pid(line)
        key = procfs.key_of(pid) if pid is not None else None
        if pid is None or key is None:
            raise StartFailed(f"bwrap could not build the walls: {await child.ending()}.")
        group = await asyncio.shield(asyncio.wrap_future(making))
        # bwrap has not reaped it before we let it end, so the number is still its own.
        pidfd = os.pidfd_open(pid)
        undo.pop_all()
    sandbox = Sandbox(
        child=child,
        status=status,
        status_transport=status_transport,
        init=key,
        init_pidfd=pidfd,
        cgroup=group,
        executor=executor,
    )
    return sandbox, group


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End bwrap and its first process inside, which in its first moments waits for bwrap for ever, even for
    one that is dead; it is of bwrap's own group until it begins a session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _child_pid(line: bytes | None) -> int | None:
    return None if line is None else int(json.loads(line)["child-pid"])


def _limit(plan: LaunchPlan, sandbox: Sandbox, group: Cgroup) -> None:
    limits, pid = plan.limits, sandbox.init.pid
    wanted = {
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_NOFILE: min(limits.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
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
        raise StartFailed(f"bwrap could not build the walls: {await sandbox.child.ending()}.") from error


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
