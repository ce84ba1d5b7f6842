"""What a test of a runner needs: an agent's directories on the disk, plans to run code in, and its end."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, new_id
from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import AgentPlaces, LaunchPlan, ResourceLimits
from orchestrator.contracts.seams import AgentHandle
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES
from orchestrator.core.agents.launch_plan import plan_launch
from orchestrator.runners.catalog import DescribedRunner, RunnerOptions, make_runner
from tests.support.agent_image import IMAGE

BASE_IMAGE: Final = "dovecote-base:bookworm"
AGENT_UID: Final = 64_177
"""A host user of the agent's own, where the tests run as root."""
GROUP: Final = Group(
    folder=GroupFolder("kitchen"),
    jid=Jid("console:kitchen"),
    name="Kitchen",
    trigger="@Assistant",
    assistant_name="Assistant",
    added_at=datetime(2026, 1, 1, tzinfo=UTC),
    number=1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How an agent ended and all it wrote."""

    status: ExitStatus
    output: bytes
    log: bytes


class Stage:
    """The directories of one agent below `root`, and plans for it."""

    def __init__(self, root: Path, *, instance_id: str) -> None:
        self.instance_id = instance_id
        self.uid = AGENT_UID if os.geteuid() == 0 else None
        self.places = AgentPlaces(
            workspace=root / "workspace", shared=root / "shared", box=root / "box", home=root / "home"
        )
        for writable in (self.places.workspace, self.places.home):
            self._make(writable)
        self.places.shared.mkdir(parents=True, exist_ok=True)
        self.places.box.mkdir(parents=True, exist_ok=True)
        for name in BOX_DIRECTORIES:
            self._make(self.places.box / name)

    def plan(
        self,
        code: str,
        *,
        limits: ResourceLimits | None = None,
        command: tuple[str, ...] | None = None,
        image: str | None = None,
        runs_model_commands: bool = False,
    ) -> LaunchPlan:
        """A plan that runs the Python `code`, or `command`, with the mounts of a real agent."""
        return plan_launch(
            group=GROUP,
            agent_id=AgentId(new_id("agent")),
            instance_id=self.instance_id,
            places=self.places,
            limits=limits or ResourceLimits(),
            timezone="Europe/Berlin",
            uid=self.uid,
            gid=self.uid,
            image=image,
            command=command or ("python3", "-c", code),
            runs_model_commands=runs_model_commands,
        )

    def _make(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if self.uid is not None:
            os.chown(directory, self.uid, self.uid)


def open_runner(name: str, programs: Path) -> DescribedRunner:
    """A runner as the app would make it."""
    return make_runner(name, RunnerOptions(image=IMAGE, programs_directory=programs))


async def run(runner: DescribedRunner, plan: LaunchPlan, *, line: bytes = b"{}\n") -> Ran:
    """Start the plan, give it its input, read all, and close it."""
    handle = await runner.start(plan)
    try:
        return await run_to_end(handle, line=line)
    finally:
        await handle.close()


async def run_to_end(handle: AgentHandle, *, line: bytes = b"{}\n") -> Ran:
    """Give a started agent its input and read all it writes."""
    async with asyncio.TaskGroup() as streams:
        output = streams.create_task(collect(handle.output()), name="output")
        log = streams.create_task(collect(handle.log_output()), name="log")
        with contextlib.suppress(StartFailed):  # one that reads nothing may have ended by now
            await handle.write_input(line)
        status = await handle.wait()
    return Ran(status=status, output=output.result(), log=log.result())


async def collect(chunks: AsyncIterator[bytes]) -> bytes:
    """All of a stream."""
    return b"".join([chunk async for chunk in chunks])


async def read_line(chunks: AsyncIterator[bytes]) -> bytes:
    """The first line of a stream, and whatever came with it."""
    found = b""
    async for chunk in chunks:
        found += chunk
        if b"\n" in found:
            break
    return found


def is_seen_from_here(container_id: str) -> bool:
    """Whether any process that we see is in the container."""
    for each in Path("/proc").glob("[0-9]*/cgroup"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if container_id in each.read_text():
                return True
    return False
