"""Agents started without Dovecote: the same command and mounts, by the bare program of each runner."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, new_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import PROGRAMS_TARGET, AgentPlaces, LaunchPlan, ResourceLimits
from orchestrator.contracts.seams import Runner
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES
from orchestrator.core.agents.launch_plan import plan_launch
from orchestrator.runners.host_system import bwrap_programs, read_host_system
from orchestrator.runners.process_runner import host_path
from orchestrator.runners.runner_files import Interpreter, choose_interpreter, ensure_programs
from tests.benchmarks.bench_channel import NOON
from tests.support.agent_image import IMAGE

AGENT_UID: Final = 64_178
_PROBE: Final = """
import time, container.agent_runner as agent
read = agent.read_line
def timed(descriptor):
    line = read(descriptor)
    open("stdin_read", "a").write(f"{time.monotonic()}\\n")
    return line
agent.read_line = timed
raise SystemExit(agent.main())
"""
PROBE_COMMAND: Final = ("python3", "-c", _PROBE)
"""The agent runner, which also writes down in its workspace when it had read its input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The directories of one agent, and the programs for it."""

    places: AgentPlaces
    programs: Path
    uid: int | None

    def plan(self, command: Sequence[str]) -> LaunchPlan:
        """A plan with the mounts of a real agent."""
        group = Group(
            folder=GroupFolder("bench"),
            jid=Jid("bench:0"),
            name="Bench",
            trigger="@Assistant",
            assistant_name="Assistant",
            added_at=NOON,
            number=1,
        )
        return plan_launch(
            group=group,
            agent_id=AgentId(new_id("bench")),
            instance_id="bench",
            places=self.places,
            limits=ResourceLimits(),
            timezone="UTC",
            uid=self.uid,
            gid=self.uid,
            image=IMAGE,
            command=command,
        )


def agent_uid() -> int | None:
    """The agent's own user, where we are root."""
    return AGENT_UID if os.geteuid() == 0 else None


def make_ground(root: Path, *, uid: int | None) -> Ground:
    """Fill `root` with what an agent's mounts need. uid: who may write there; None: we."""
    places = AgentPlaces(
        workspace=root / "workspace", shared=root / "shared", box=root / "box", home=root / "home"
    )
    boxes = [places.box / name for name in BOX_DIRECTORIES]
    for directory in (places.workspace, places.shared, places.box, places.home, *boxes):
        directory.mkdir()
        if uid is not None and directory not in (places.shared, places.box):
            os.chown(directory, uid, uid)
    programs = root / "programs"
    programs.mkdir()
    return Ground(places=places, programs=programs, uid=uid)


def bare_command(runner: str, plan: LaunchPlan, programs: Path) -> tuple[list[str], dict[str, str] | None]:
    """The bare program's words and its environment; None: ours."""
    match runner:
        case "docker":
            return _docker(plan), None
        case "bubblewrap":
            return _bubblewrap(plan, programs), None
        case _:
            return _process(plan, programs)


def _docker(plan: LaunchPlan) -> list[str]:
    user = [] if plan.uid is None else ["--user", f"{plan.uid}:{plan.gid}"]
    mounts = [
        f"type=bind,source={mount.source},target={mount.target}{'' if mount.is_writable else ',readonly'}"
        for mount in plan.mounts
    ]
    first, *rest = plan.command
    return [
        *("docker", "run", "--rm", "-i", "--init", "--network", "none", "--read-only", *user),
        *(word for mount in mounts for word in ("--mount", mount)),
        *(word for name, value in plan.environment.items() for word in ("--env", f"{name}={value}")),
        *("--workdir", plan.working_directory, "--entrypoint", first, str(plan.image), *rest),
    ]


def _bubblewrap(plan: LaunchPlan, programs: Path) -> list[str]:
    interpreter, system = choose_interpreter(), read_host_system()
    ready = ensure_programs(programs, interpreter)
    inside = [] if interpreter.prefix is None else ["--ro-bind", str(interpreter.prefix), "/opt/python"]
    first, *rest = plan.command
    return [
        bwrap_programs(None)[0],
        *("--unshare-all", "--die-with-parent", "--clearenv"),
        *(word for name, value in plan.environment.items() for word in ("--setenv", name, value)),
        *(word for path in system.directories for word in ("--ro-bind", path, path)),
        *(word for target, path in system.links for word in ("--symlink", target, path)),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *(word for path in system.files for word in ("--ro-bind-try", path, path)),
        *("--ro-bind", str(ready.library), PROGRAMS_TARGET, *inside),
        *(
            word
            for mount in plan.mounts
            for word in ("--bind" if mount.is_writable else "--ro-bind", str(mount.source), mount.target)
        ),
        *("--chdir", plan.working_directory, "--"),
        *(interpreter.inside if first == "python3" else first, *rest),
    ]


def _process(plan: LaunchPlan, programs: Path) -> tuple[list[str], dict[str, str]]:
    own = Interpreter(inside=sys.executable, outside=sys.executable)
    places = {mount.target: str(mount.source) for mount in plan.mounts}
    places[PROGRAMS_TARGET] = str(ensure_programs(programs, own).library)
    first, *rest = plan.command
    command = [sys.executable if first == "python3" else first, *rest]
    return command, {name: host_path(value, places) for name, value in plan.environment.items()}


def first_output_s(words: Sequence[str], environment: dict[str, str] | None, *, directory: Path) -> float:
    """Seconds from the start of a program to the first byte it prints; it is seen to its end."""
    began = time.monotonic()
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=directory,
    ) as program:
        assert program.stdout is not None
        _first_byte(program.stdout)
        return time.monotonic() - began


def read_input_s(words: Sequence[str], environment: dict[str, str] | None, ground: Ground) -> float:
    """Seconds from the start of `PROBE_COMMAND` until it had read its input."""
    marks = ground.places.workspace / "stdin_read"
    marks.unlink(missing_ok=True)
    began = time.monotonic()
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=ground.places.workspace,
    ) as program:
        program.communicate(b'{"protocol": 0}\n')  # another protocol: it reads this and exits
    return float(marks.read_text()) - began


async def runner_start_s(runner: Runner, ground: Ground, command: Sequence[str]) -> float:
    """Seconds of one of our runners from the call to the first line that the command prints."""
    began = time.monotonic()
    handle = await runner.start(ground.plan(command))
    try:
        await anext(aiter(handle.output()))
        took_s = time.monotonic() - began
        await handle.kill()
        await handle.wait()
    finally:
        await handle.close()
    return took_s


def _first_byte(stream: IO[bytes]) -> None:
    assert stream.read(1), "the program printed nothing"
