"""Agents as plain processes, without walls: for drivers that run no commands of a model."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import AGENTS_TARGET, PROGRAMS_TARGET, TOOLS_TARGET, LaunchPlan
from orchestrator.contracts.seams import AgentHandle
from orchestrator.runners import lifeline, procfs
from orchestrator.runners.child import SideChannel, adopt, start_process
from orchestrator.runners.model_programs import model_programs
from orchestrator.runners.process_handle import ProcessHandle, keys_in
from orchestrator.runners.runner_files import Interpreter, Programs, choose_interpreter, ensure_programs

LABEL: Final = "dovecote-lifeline"
"""Begins one command word of every lifeline; the instance and the agent follow."""
_LABEL_POSITION: Final = 4
_VERIFY_S: Final = 5.0
# RLIMIT_AS counts addresses, and a Python with threads takes more of them than memory.
_ADDRESSES_BESIDE_MEMORY: Final = 512 * 1024**2


class ProcessRunner:
    """Starts agents as processes of this user. allow_unisolated: also those that run a model's commands."""

    name = "process"

    def __init__(self, *, programs_directory: Path, allow_unisolated: bool = False) -> None:
        self._programs_directory = programs_directory
        self._allow_unisolated = allow_unisolated
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="process-runner")
        self._found: tuple[Interpreter, Programs] | None = None

    async def why_not(self) -> str | None:
        """It always can."""
        return None

    async def in_words(self) -> str:
        """One line for the log: what agents run in."""
        if self._allow_unisolated:
            return "Agents run without walls, also those that run commands of a model."
        return "Agents run without walls: only those that run no commands of a model may."

    async def agent_programs(self) -> tuple[str, ...] | None:
        """Nobody knows: without walls, one of the operator's own may lie anywhere."""
        return None

    async def finds(self, program: str, *, is_script: bool = False) -> bool | None:
        """By the path of this process, which they inherit."""
        if is_script:
            return await asyncio.to_thread(os.access, program, os.R_OK)
        return await asyncio.to_thread(shutil.which, program) is not None

    async def limits_in_words(self) -> str:
        """Which limits hold here, for `dovecote doctor`."""
        return "memory: of each process, for drivers of ours; processes: not limited; CPUs: not limited"

    async def start(self, plan: LaunchPlan) -> ProcessHandle:
        """Start it. Raises StartFailed, and so for a driver that needs walls."""
        if plan.runs_model_commands and not self._allow_unisolated:
            raise StartFailed(
                f"The agent of {plan.group!r} runs commands of a model, and here it would have no walls.",
                suggestion="Install bubblewrap or Docker, or set agent.allow_unisolated = true.",
            )
        loop = asyncio.get_running_loop()
        if self._found is None:
            self._found = await loop.run_in_executor(self._executor, self._look_around)
        interpreter, programs = self._found
        places = {mount.target: str(mount.source) for mount in plan.mounts}
        places[PROGRAMS_TARGET] = str(programs.library)
        if plan.runs_model_commands:
            # A program of the operator's own may lie anywhere, so whether one is there is found out inside.
            tools, agents = await loop.run_in_executor(
                self._executor, model_programs, self._programs_directory, interpreter, None
            )
            places[TOOLS_TARGET] = str(tools)
            places |= {} if agents is None else {AGENTS_TARGET: str(agents)}
        return await self._start(plan, interpreter.outside, places)

    async def adopt(self, instance_id: str, agent_id: AgentId, ref: str) -> AgentHandle | None:
        """None: its agents end with the process that started them."""
        return None

    async def stop_leftovers(
        self,
        instance_id: str,
        refs: Sequence[tuple[AgentId, str | None]],
        *,
        spare: Collection[AgentId] = (),
    ) -> list[AgentId]:
        """Kill what an earlier process of this instance left; by then its lifeline has done so itself."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, _sweep, instance_id, list(refs))

    async def close(self) -> None:
        """Give back threads."""
        self._executor.shutdown(wait=False)

    def _look_around(self) -> tuple[Interpreter, Programs]:
        """The Python that runs agents, a plain one, which starts faster than ours; and their programs."""
        interpreter = choose_interpreter()
        return interpreter, ensure_programs(self._programs_directory, interpreter)

    async def _start(self, plan: LaunchPlan, python: str, places: dict[str, str]) -> ProcessHandle:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with theirs:
            process = _start_lifeline(plan, python, places, ours, theirs)
        try:
            child = await adopt(process, self._executor)
            transport, line = await loop.create_unix_connection(lambda: SideChannel(loop), sock=ours)
        except BaseException:
            # The lifeline ends the agent and itself when our end of the line is gone.
            ours.close()
            self._executor.submit(process.wait)
            raise
        handle = ProcessHandle(child, line, transport, executor=self._executor)
        try:
            await handle.started()
        except BaseException:
            await handle.close()
            raise
        return handle


def _start_lifeline(
    plan: LaunchPlan, python: str, places: Mapping[str, str], ours: socket.socket, theirs: socket.socket
) -> subprocess.Popen[bytes]:
    first, *rest = (host_path(word, places) for word in plan.command)
    memory_bytes = 0 if plan.runs_model_commands else plan.limits.memory_bytes + _ADDRESSES_BESIDE_MEMORY
    try:
        return start_process(
            [
                *(python, "-I", "-S", lifeline.__file__, f"{LABEL}:{plan.instance_id}:{plan.agent_id}"),
                *(str(theirs.fileno()), str(memory_bytes), str(plan.limits.open_files), "--"),
                *(python if first == "python3" else first, *rest),
            ],
            executable=python,
            environment={name: host_path(value, places) for name, value in plan.environment.items()},
            directory=host_path(plan.working_directory, places),
            descriptors=[theirs.fileno()],
        )
    except OSError as error:
        ours.close()
        raise StartFailed(f"The agent can't be started: {error}.") from error


def host_path(value: str, places: Mapping[str, str]) -> str:
    """`value` with a container path put into the host's terms; what is none stays. Longest target first."""
    for target in sorted(places, key=len, reverse=True):
        if value == target or value.startswith(f"{target}/"):
            return places[target] + value[len(target) :]
    return value


def _sweep(instance_id: str, refs: Sequence[tuple[AgentId, str | None]]) -> list[AgentId]:
    """Kill and verify; returns whom that failed for. Blocks."""
    known = [(agent_id, key) for agent_id, ref in refs for key in keys_in(ref)]
    prefix = f"{LABEL}:{instance_id}:"
    if sys.platform == "linux":
        for lifeline_key, word in procfs.named_processes(prefix, position=_LABEL_POSITION):
            agents = [procfs.key_of(pid) for pid in procfs.children(lifeline_key.pid)]
            # The agent first: a lifeline that is killed can't end its agent any more.
            known += [(AgentId(word.removeprefix(prefix)), key) for key in (*agents, lifeline_key) if key]
    alive: set[AgentId] = set()
    for agent_id, key in known:
        if not procfs.is_running(key):
            continue
        with suppress(ProcessLookupError, PermissionError):
            # The agent leads a group of its own; its lifeline leads a session, so it has one, too.
            os.killpg(key.pid, signal.SIGKILL)
        if sys.platform == "linux" and not procfs.kill_and_verify(key, within_s=_VERIFY_S):
            alive.add(agent_id)
    return sorted(alive)
