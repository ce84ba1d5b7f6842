"""What is mounted is what was meant, all of it and nothing else, or an agent gets no input (E11, FP19)."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.records.launch import PROGRAMS_TARGET, LaunchPlan, Mount
from orchestrator.contracts.seams import AgentHandle
from orchestrator.runners.catalog import DescribedRunner
from orchestrator.runners.runner_files import PYTHON_TARGET
from tests.agreement.runners.conftest import WALLED
from tests.agreement.runners.stage import Stage, is_seen_from_here, read_line, run

walled = pytest.mark.parametrize("kind", WALLED, indirect=True)
OUT: Final = "/workspace/group/out"
# Says what it finds at the place, once it may look, and stays.
SAYS_WHAT_IS_THERE: Final = f"""
import json, os, sys, time
while not os.path.exists('/workspace/group/look'):
    time.sleep(0.01)
found = os.stat('{OUT}')
print(json.dumps({{'{OUT}': f'{{found.st_dev}}:{{found.st_ino}}'}}), flush=True)
sys.stdin.read()
"""
OF_A_SYSTEM: Final = {
    *("/", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/certs", "/etc/alternatives"),
    *("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"),
    *(PROGRAMS_TARGET, PYTHON_TARGET),
    *("/sbin/docker-init", "/usr/sbin/docker-init"),
}
"""What programs need to run, ours too: of a sandbox from the host, of a container by the engine."""
OF_THE_KERNEL: Final = {"proc", "sysfs", "tmpfs", "devtmpfs", "devpts", "mqueue", "cgroup", "cgroup2"}
"""Kinds of file systems that hold no files of anybody's disk."""


@walled
async def test_fp19_nothing_of_the_host_is_mounted_but_what_the_plan_names(
    runner: DescribedRunner, stage: Stage
) -> None:
    plan = stage.plan("print(open('/proc/self/mountinfo').read())")

    ran = await run(runner, plan)

    found = kinds_by_place(ran.output.decode())
    planned = {mount.target for mount in plan.mounts}
    others = {place: kind for place, kind in found.items() if place not in planned | OF_A_SYSTEM}
    assert planned <= found.keys()
    assert {place: kind for place, kind in others.items() if not is_of_the_kernel(place, kind)} == {}


def kinds_by_place(mountinfo: str) -> Mapping[str, str]:
    """Of each place where something is mounted the kind of its file system."""
    halves = [line.split(" - ") for line in mountinfo.splitlines() if line]
    return {before.split()[4]: after.split()[0] for before, after in halves}


def is_of_the_kernel(place: str, kind: str) -> bool:
    """Whether it lies where file systems of the kernel belong, and is one."""
    return place.split("/")[1] in ("proc", "sys", "dev", "tmp") and kind in OF_THE_KERNEL


@walled
async def test_e11_a_mount_that_stands_compares_equal(runner: DescribedRunner, stage: Stage) -> None:
    """Case E11, where nothing is wrong: the one of the next test, left alone."""
    handle = await runner.start(plan_with_a_mount_in_the_workspace(stage))

    try:
        await handle.check_walls(await report_of(handle, stage))
    finally:
        await handle.close()


@walled
@pytest.mark.parametrize("by", ["exchanged", "removed and made again"])
async def test_e11_a_mount_that_another_takes_off_while_the_agent_starts_is_found(
    runner: DescribedRunner, stage: Stage, kind: str, by: str
) -> None:
    """Case E11: whoever may write in a workspace can take a mount off a place in it; the agent runs on."""
    handle = await runner.start(plan_with_a_mount_in_the_workspace(stage))
    place = stage.places.workspace / "out"

    try:
        if by == "exchanged":
            place.rename(stage.places.workspace / "aside")
        else:
            place.rmdir()
        make(place, stage)
        reported = await report_of(handle, stage)
        if kind == "docker" and not is_seen_from_here(handle.process_ref):
            pytest.skip("the engine counts its processes elsewhere: nobody here can look inside")
        with pytest.raises(StartFailed, match=f"{OUT} is not"):
            await handle.check_walls(reported)
    finally:
        await handle.close()


def plan_with_a_mount_in_the_workspace(stage: Stage) -> LaunchPlan:
    """As of a spawned agent that may write in one directory of its parent's workspace."""
    place = stage.places.workspace / "out"
    make(place, stage)
    plan = stage.plan(SAYS_WHAT_IS_THERE)
    beneath = stage.places.workspace
    out = Mount(source=place, target=OUT, is_writable=True, beneath=beneath)
    return replace(plan, mounts=(*plan.mounts, out))


def make(place: Path, stage: Stage) -> None:
    place.mkdir()
    if stage.uid is not None:
        os.chown(place, stage.uid, stage.uid)


async def report_of(handle: AgentHandle, stage: Stage) -> Mapping[str, str]:
    """What the agent says of the place, as in its `ready`."""
    (stage.places.workspace / "look").touch()
    found: dict[str, str] = json.loads(await read_line(handle.output()))
    return found
