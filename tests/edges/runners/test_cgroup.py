"""Control groups: where they would be made, and, where this machine lets us, that they hold."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.contracts.records.launch import ResourceLimits
from orchestrator.runners import cgroup
from orchestrator.runners.cgroup import Cgroup, Parents, find_parents

V1: Final = """\
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
/dev/vda / ext4 rw 0 0
"""
V2: Final = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev 0 0\n"


def test_with_v1_each_controller_has_a_parent_of_its_own() -> None:
    found = find_parents(mounts=V1, membership="4:memory:/service/one\n1:cpu,cpuacct:/\n0::/\n")

    assert found.v1 == (
        ("memory", Path("/sys/fs/cgroup/memory/service/one")),
        ("cpu", Path("/sys/fs/cgroup/cpu,cpuacct")),
    )
    assert found.v2 is None


def test_with_v2_the_parent_is_our_own_group() -> None:
    found = find_parents(mounts=V2, membership="0::/user.slice/dovecote.service\n")

    assert found.directories == (Path("/sys/fs/cgroup/user.slice/dovecote.service"),)


def test_without_control_groups_there_is_no_parent() -> None:
    found = find_parents(mounts="/dev/vda / ext4 rw 0 0\n", membership="")

    assert found.directories == ()


def test_where_nothing_can_be_made_nothing_is_limited(tmp_path: Path) -> None:
    parents = Parents(v2=tmp_path / "absent")

    group = Cgroup.make(parents, "dovecote-x", ResourceLimits())
    group.remove()

    assert group.limited == frozenset()


def test_a_group_counts_its_processes_and_removing_it_kills_them() -> None:
    parents = cgroup.probe_parents()
    if "pids" not in parents.usable:
        pytest.skip("control groups can't be made here")
    name = f"{cgroup.PREFIX}{new_id('test')}"
    group = Cgroup.make(parents, name, ResourceLimits(processes=5))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        group.add(process.pid)
        found = list(cgroup.left_groups(parents, name))

        group.remove()

        assert process.wait(timeout=50) == -9
    assert len(found) == len(group.directories) > 0
    assert list(cgroup.left_groups(parents, name)) == []
