"""Agents in sandboxes made by the `bwrap` program: no engine, no image, a start in about 20 ms."""

import asyncio
import json
import os
import platform
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from orchestrator.contracts.errors import ErrorCode, StartFailed, Unavailable
from orchestrator.contracts.ids import AgentId, GroupFolder, new_id
from orchestrator.contracts.records.launch import AGENTS_TARGET, LaunchPlan
from orchestrator.contracts.seams import AgentHandle
from orchestrator.core.agents.environment import SEARCH_PATH
from orchestrator.runners import cgroup as cgroups
from orchestrator.runners import host_system, procfs, syscall_filter
from orchestrator.runners.agent_directory import current_agents
from orchestrator.runners.bubblewrap_handle import BubblewrapHandle
from orchestrator.runners.bubblewrap_opening import LABEL, Equipment, open_sandbox
from orchestrator.runners.model_programs import model_programs
from orchestrator.runners.procfs import ProcessKey
from orchestrator.runners.runner_files import INNER_ID, choose_interpreter, ensure_programs
from orchestrator.runners.user_namespace import make_user_namespace

_SEARCHED: Final = (f"{AGENTS_TARGET}/bin", *SEARCH_PATH.split(":"))
_VERIFY_S: Final = 5.0
# Any user that is not root: the trial must take the path that starts take.
_TRIAL_ID: Final = 65_534


class BubblewrapRunner:
    """Starts agents in sandboxes. programs_directory: `data/programs`; bwrap: None takes what is there."""

    name = "bubblewrap"

    def __init__(self, *, programs_directory: Path, bwrap: Path | None = None) -> None:
        self._programs_directory = programs_directory
        self._wanted_bwrap = bwrap
        self._executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="bubblewrap")
        self._equipment: Equipment | None = None
        self._namespaces: dict[tuple[int, int], int] = {}

    async def why_not(self) -> str | None:
        """Try it: run a Python in a sandbox. None when that worked."""
        try:
            await self._equip()
        except Unavailable as error:
            return str(error)
        return None

    async def in_words(self) -> str:
        """One line for the log: what agents run in. Raises Unavailable."""
        equipment = await self._equip()
        return f"Agents run in bubblewrap sandboxes ({equipment.bwrap})."

    async def agent_programs(self) -> tuple[str, ...] | None:
        """Those that are installed in `data/programs`."""
        agents = await asyncio.to_thread(current_agents, self._programs_directory)
        return () if agents is None else agents.programs

    async def finds(self, program: str, *, is_script: bool = False) -> bool | None:
        """In what a sandbox shows of this machine, or among the agent programs."""
        return await asyncio.to_thread(
            _finds, program, self._programs_directory, os.R_OK if is_script else os.X_OK
        )

    async def limits_in_words(self) -> str:
        """Which limits hold here, for `dovecote doctor`. Raises Unavailable."""
        usable = (await self._equip()).parents.usable
        memory = "by control group" if "memory" in usable else "looked at each second, then killed"
        processes = "by control group" if "pids" in usable else "by RLIMIT_NPROC, per user"
        cpus = "by control group" if "cpu" in usable else "not limited"
        return f"memory: {memory}; processes: {processes}; CPUs: {cpus}"

    async def start(self, plan: LaunchPlan) -> BubblewrapHandle:
        """Start it; the walls stand when this returns. Raises StartFailed or Unavailable."""
        equipment = await self._equip()
        if plan.runs_model_commands:
            equipment = await self._with_tools(equipment, plan.program)
        return await self._start(plan, equipment)

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
        """Kill what an earlier process of this instance left, by pid and start time and by name."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, _sweep, instance_id, list(refs))

    async def close(self) -> None:
        """Give back threads and namespaces."""
        while self._namespaces:
            os.close(self._namespaces.popitem()[1])
        self._executor.shutdown(wait=False)

    async def _equip(self) -> Equipment:
        """What works here. Raises Unavailable with the reasons and what mends it."""
        if self._equipment is not None:
            return self._equipment
        reasons: list[str] = []
        for bwrap in host_system.bwrap_programs(self._wanted_bwrap):
            if (reason := host_system.why_not_startable(bwrap)) is not None:
                reasons.append(f"{bwrap}: {reason}")
                continue
            try:
                self._equipment = await self._try(bwrap)
            except (StartFailed, OSError) as error:
                reasons.append(f"{bwrap}: {error}")
            else:
                return self._equipment
        raise Unavailable(
            f"bwrap does not work: {'; '.join(reasons)}" if reasons else "There is no bwrap program.",
            code=ErrorCode.RUNNER_UNAVAILABLE,
            suggestion=host_system.advice(),
        )

    async def _try(self, bwrap: str) -> Equipment:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._executor, self._look_around, bwrap)
        handle = await self._start(_trial_plan(), found)
        try:
            code = (await handle.wait()).code
            if code != 0:
                words = b"".join([chunk async for chunk in handle.log_output()])
                raise StartFailed(f"a trial ended with {code}: {words.decode(errors='replace').strip()}")
        finally:
            await handle.close()
        return found

    def _look_around(self, bwrap: str) -> Equipment:
        interpreter = choose_interpreter()
        machine = platform.machine()
        return Equipment(
            bwrap=bwrap,
            takes_descriptors=host_system.binds_descriptors(bwrap),
            system=host_system.read_host_system(),
            interpreter=interpreter,
            programs=ensure_programs(self._programs_directory, interpreter),
            parents=cgroups.probe_parents(),
            syscalls=syscall_filter.kernel_program(machine) if syscall_filter.is_known(machine) else None,
        )

    async def _with_tools(self, equipment: Equipment, program: str | None) -> Equipment:
        loop = asyncio.get_running_loop()
        tools, agents = await loop.run_in_executor(
            self._executor, model_programs, self._programs_directory, equipment.interpreter, program
        )
        return replace(equipment, programs=replace(equipment.programs, tools=tools, agents=agents))

    async def _start(self, plan: LaunchPlan, equipment: Equipment) -> BubblewrapHandle:
        return await open_sandbox(
            plan, equipment, user_namespace=await self._namespace_for(plan), executor=self._executor
        )

    async def _namespace_for(self, plan: LaunchPlan) -> int | None:
        """A namespace made ahead: only where we are root and the agent is to be somebody else."""
        if os.geteuid() != 0 or not plan.uid:
            return None
        uid, gid = plan.uid, plan.gid or plan.uid
        if (uid, gid) not in self._namespaces:
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(
                self._executor, lambda: make_user_namespace(uid=uid, gid=gid, inner_id=INNER_ID)
            )
            if self._namespaces.setdefault((uid, gid), made) != made:  # another start was quicker
                os.close(made)
        return self._namespaces[uid, gid]


def _trial_plan() -> LaunchPlan:
    is_root = os.geteuid() == 0
    return LaunchPlan(
        agent_id=AgentId(new_id("trial")),
        instance_id="trial",
        group=GroupFolder("trial"),
        command=("python3", "-c", "import json"),
        mounts=(),
        environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
        working_directory="/",
        uid=_TRIAL_ID if is_root else None,
        gid=_TRIAL_ID if is_root else None,
    )


def _sweep(instance_id: str, refs: Sequence[tuple[AgentId, str | None]]) -> list[AgentId]:
    """Kill and verify; returns whom that failed for. Blocks."""
    alive: set[AgentId] = set()
    known = [(agent_id, key) for agent_id, ref in refs if (key := _key(ref)) is not None]
    prefix = f"{LABEL}:{instance_id}:"
    named = [
        (AgentId(word.removeprefix(prefix)), key) for key, word in procfs.named_processes(prefix, position=0)
    ]
    for agent_id, key in [*known, *named]:
        if procfs.is_running(key) and not procfs.kill_and_verify(key, within_s=_VERIFY_S):
            alive.add(agent_id)
    mine = f"{cgroups.PREFIX}{instance_id}-"
    left = {path for _, ref in refs for path in _groups(ref) if path.name.startswith(mine)}
    for directory in {*left, *cgroups.left_groups(cgroups.read_parents(), mine)}:
        if not cgroups.remove_group(directory):
            alive.add(AgentId(directory.name.removeprefix(mine)))
    return sorted(alive)


def _key(ref: str | None) -> ProcessKey | None:
    match _parsed(ref):
        case {"pid": int(pid), "start_ticks": int(start_ticks)}:
            return ProcessKey(pid=pid, start_ticks=start_ticks)
    return None


def _groups(ref: str | None) -> list[Path]:
    match _parsed(ref):
        case {"cgroups": list(paths)}:
            return [Path(path) for path in paths if isinstance(path, str)]
    return []


def _parsed(ref: str | None) -> object:
    try:
        return json.loads(ref or "null")
    except ValueError:
        return None


def _finds(program: str, programs: Path, right: int) -> bool:
    """Whether a sandbox has that file, with this right to it. Blocks."""
    system, agents = host_system.read_host_system(), current_agents(programs)
    shown = (*system.directories, *(path for _, path in system.links))
    ours = PurePosixPath(AGENTS_TARGET)
    candidates = [program] if "/" in program else [f"{place}/{program}" for place in _SEARCHED]
    for path in map(PurePosixPath, candidates):
        if agents is not None and path.is_relative_to(ours):
            found = agents.path / path.relative_to(ours)
        elif any(path.is_relative_to(place) for place in shown):
            found = Path(path)
        else:
            continue
        if found.is_file() and os.access(found, right):
            return True
    return False
