"""A plan as arguments of bwrap: what is said, and in which order."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.launch import LaunchPlan, ResourceLimits
from orchestrator.runners.bubblewrap_command import (
    BoundMount,
    Descriptors,
    HostSystem,
    bubblewrap_arguments,
)
from orchestrator.runners.runner_files import Interpreter, Programs

PLAN: Final = LaunchPlan(
    agent_id=AgentId("agent-1"),
    instance_id="home-1",
    group=GroupFolder("kitchen"),
    command=("python3", "-m", "container.agent_runner"),
    mounts=(),
    environment={"HOME": "/home/agent", "TZ": "UTC"},
    working_directory="/workspace/group",
    limits=ResourceLimits(tmp_bytes=1000, shm_bytes=500),
)
MOUNTS: Final = (
    BoundMount(source="/h/workspace", target="/workspace/group", is_writable=True, descriptor=7),
    BoundMount(source="/h/box", target="/workspace/ipc", is_writable=False, descriptor=8),
    BoundMount(source="/h/box/mail", target="/workspace/ipc/mail", is_writable=True, descriptor=9),
)


def arguments(
    *,
    plan: LaunchPlan = PLAN,
    namespace: int | None = None,
    prefix: str | None = None,
    mounts: object = MOUNTS,
    syscalls: int | None = 10,
) -> list[str]:
    interpreter = (
        Interpreter(inside="/usr/bin/python3", outside="/usr/bin/python3")
        if prefix is None
        else Interpreter(
            inside="/opt/python/bin/python3", outside=f"{prefix}/bin/python3", prefix=Path(prefix)
        )
    )
    assert isinstance(mounts, tuple)
    return bubblewrap_arguments(
        plan,
        system=HostSystem(directories=("/usr",), links=(("usr/lib", "/lib"),)),
        programs=Programs(library=Path("/h/library"), accounts=Path("/h/accounts"), stamp="x"),
        interpreter=interpreter,
        mounts=mounts,
        descriptors=Descriptors(status=5, gate=6, user_namespace=namespace, syscalls=syscalls),
    )


def places_of(words: list[str], *sought: str) -> list[int]:
    """Where each sequence of words begins."""
    text = "\0".join(words)
    return [text.index(each.replace(" ", "\0")) for each in sought]


def test_the_kernel_is_given_a_filter_where_there_is_one() -> None:
    with_filter, without = arguments(syscalls=10), arguments(syscalls=None)

    assert with_filter[with_filter.index("--seccomp") + 1] == "10"
    assert "--seccomp" not in without


def test_what_lies_over_something_comes_after_it() -> None:
    words = arguments()

    order = places_of(
        words,
        "--ro-bind /usr /usr",
        "--tmpfs /dev/shm",
        "--remount-ro /dev",
        "--dir /workspace",
        "--bind-fd 7 /workspace/group",
        "--ro-bind-fd 8 /workspace/ipc",
        "--bind-fd 9 /workspace/ipc/mail",
        "--remount-ro /",
        "--chdir /workspace/group",
        "-- /usr/bin/python3 -m container.agent_runner",
    )
    # "--remount-ro /" also begins "--remount-ro /dev": the root's is the last one said.
    order[7] = "\0".join(words).rindex("--remount-ro\0/\0")
    assert order == sorted(order)


def test_a_directory_is_not_made_where_a_mount_brings_it() -> None:
    words = arguments()

    made = [words[at + 1] for at, word in enumerate(words) if word == "--dir"]
    assert "/workspace" in made
    assert "/workspace/ipc" not in made


def test_an_old_bwrap_is_given_paths() -> None:
    words = arguments(mounts=(replace(MOUNTS[0], descriptor=None),))

    assert places_of(words, "--bind /h/workspace /workspace/group")


def test_without_a_namespace_made_ahead_bwrap_makes_its_own_and_forbids_more() -> None:
    words = arguments()

    assert {"--unshare-user", "--unshare-all", "--disable-userns"} <= set(words)
    assert "setpriv" not in words
    assert "--cap-add" not in words


def test_in_a_namespace_made_ahead_the_first_program_gives_up_roots_rights() -> None:
    words = arguments(namespace=9)

    inside = words[words.index("--") + 1 :]
    assert words[:2] == ["--userns", "9"]
    assert inside[0] == "setpriv"
    assert {"--no-new-privs", "--clear-groups"} <= set(inside)
    assert inside[-3:] == ["/usr/bin/python3", "-m", "container.agent_runner"]
    assert "--unshare-net" in words


@pytest.mark.parametrize("namespace", [None, 9], ids=["own", "made ahead"])
def test_the_network_and_the_hosts_death_are_never_left_out(namespace: int | None) -> None:
    words = set(arguments(namespace=namespace))

    assert words & {"--unshare-all", "--unshare-net"}
    assert {"--die-with-parent", "--new-session", "--clearenv", "--cap-drop"} <= words


def test_a_python_from_elsewhere_is_bound_and_used() -> None:
    words = arguments(prefix="/root/python-3.11")

    assert places_of(words, "--ro-bind /root/python-3.11 /opt/python")
    assert words[words.index("--") + 1] == "/opt/python/bin/python3"


def test_another_command_is_left_as_it_is() -> None:
    words = arguments(plan=replace(PLAN, command=("/bin/sh", "-c", "true")))

    assert words[-3:] == ["/bin/sh", "-c", "true"]
