"""The rules for system calls: the kernel's program, run by hand for both machines, and their numbers."""

import ctypes
import ctypes.util
import errno
import json
import struct
from collections.abc import Mapping
from typing import Final

import pytest

from orchestrator.runners.syscall_filter import (
    ALLOW,
    KILL_PROCESS,
    docker_profile,
    is_known,
    kernel_program,
)
from orchestrator.runners.syscall_rules import ABSENT, ALLOWED, CLONE, DENIED, FIRST_ARGUMENTS

# Machine: its number for the kernel's audit and for libseccomp, its column in the rules, and its `read`.
MACHINES: Final = {"x86_64": (0xC000003E, 0, 0), "aarch64": (0xC00000B7, 1, 63)}
I386: Final = 0x40000003
both_machines = pytest.mark.parametrize("machine", MACHINES)


def answer(program: bytes, *, machine: int, number: int, first_argument: int = 0) -> int:
    """What the kernel would answer, by the rules of classic BPF. Raises IndexError past the end."""
    call = struct.pack("<iIQ6Q", number, machine, 0, first_argument, 0, 0, 0, 0, 0)
    at = held = 0
    while True:
        code, when_true, when_false, value = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:
                held = int.from_bytes(call[value : value + 4], "little")
            case 0x06:
                return int(value)
            case _:
                holds = {0x15: held == value, 0x25: held > value, 0x45: bool(held & value)}[code]
                at += when_true if holds else when_false


def asked(machine: str, number: int, first_argument: int = 0) -> int:
    return answer(
        kernel_program(machine), machine=MACHINES[machine][0], number=number, first_argument=first_argument
    )


def refused_with(error: int) -> int:
    return 0x00050000 | error


@both_machines
def test_each_call_that_is_shut_is_refused_and_the_usual_ones_are_not(machine: str) -> None:
    _, column, read = MACHINES[machine]

    refused = [
        asked(machine, number) for numbers in DENIED.values() if (number := numbers[column]) is not None
    ]
    usual = asked(machine, read)

    assert set(refused) == {refused_with(errno.EPERM)}
    assert len(refused) > 40
    assert usual == ALLOW


@both_machines
@pytest.mark.parametrize(
    ("family", "expected"),
    [
        pytest.param(1, ALLOW, id="unix"),
        pytest.param(2, ALLOW, id="inet"),
        pytest.param(10, ALLOW, id="inet6"),
        pytest.param(16, ALLOW, id="netlink"),
        pytest.param(40, refused_with(errno.EAFNOSUPPORT), id="vsock"),
        pytest.param(40 | 1 << 32, refused_with(errno.EAFNOSUPPORT), id="vsock with a bit the kernel drops"),
        pytest.param(38, refused_with(errno.EAFNOSUPPORT), id="alg"),
    ],
)
def test_a_socket_is_of_a_family_that_is_named(machine: str, family: int, expected: int) -> None:
    number = {"x86_64": 41, "aarch64": 198}[machine]

    assert asked(machine, number, family) == expected


@both_machines
def test_a_clone_makes_threads_and_processes_but_no_namespaces(machine: str) -> None:
    clone, clone3 = {"x86_64": 56, "aarch64": 220}[machine], 435
    thread, fork = 0x3D0F00, 17
    flags = {
        "ns": 0x20000,
        "cgroup": 1 << 25,
        "uts": 1 << 26,
        "ipc": 1 << 27,
        "user": 1 << 28,
        "pid": 1 << 29,
    }

    refused = {name for name, flag in flags.items() if asked(machine, clone, flag | fork) != ALLOW}

    assert refused == flags.keys()
    assert asked(machine, clone, 1 << 30) == refused_with(errno.EPERM)
    assert [asked(machine, clone, each) for each in (thread, fork)] == [ALLOW, ALLOW]
    assert asked(machine, clone3) == refused_with(errno.ENOSYS)


@both_machines
@pytest.mark.parametrize(
    "number", [467, 0x40000000, 0x40000000 | 41], ids=["later", "x32 read", "x32 socket"]
)
def test_a_call_that_nobody_has_looked_at_is_not_there(machine: str, number: int) -> None:
    assert asked(machine, number) == refused_with(errno.ENOSYS)


@both_machines
def test_a_call_in_the_manner_of_another_machine_ends_the_process(machine: str) -> None:
    # On a 32-bit x86 number 41 is `dup`, and 359 a socket.
    assert answer(kernel_program(machine), machine=I386, number=359, first_argument=40) == KILL_PROCESS


def test_machines_without_rules_have_no_filter() -> None:
    known = {name: is_known(name, address_bits=64) for name in ("x86_64", "arm64", "riscv64", "armv7l")}

    assert known == {"x86_64": True, "arm64": True, "riscv64": False, "armv7l": False}
    # A 32-bit system may run on a 64-bit kernel, as on many a Raspberry Pi.
    assert not is_known("aarch64", address_bits=32)


def test_the_engines_profile_allows_nothing_that_the_kernels_program_refuses() -> None:
    profile = json.loads(docker_profile())

    unconditional = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule
        for name in rule["names"]
    }
    conditional = {CLONE[0], *(rule.name for rule in FIRST_ARGUMENTS)}
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert unconditional == set(ALLOWED)
    assert unconditional & (DENIED.keys() | ABSENT.keys() | conditional) == set()


@both_machines
def test_the_numbers_are_those_that_libseccomp_knows(machine: str) -> None:
    known = _numbers_by_libseccomp(machine)
    column = MACHINES[machine][1]
    named: Mapping[str, tuple[int | None, ...]] = {
        **DENIED,
        **ABSENT,
        CLONE[0]: CLONE[1],
        **{rule.name: rule.numbers for rule in FIRST_ARGUMENTS},
    }

    # Negative: this libseccomp is older than the call, or the machine has none of the name.
    wrong = {
        name: (numbers[column], there)
        for name, numbers in named.items()
        if (there := known(name)) >= 0 and there != numbers[column]
    }

    assert wrong == {}
    assert known("keyctl") >= 0


def _numbers_by_libseccomp(machine: str) -> "_Resolver":
    path = ctypes.util.find_library("seccomp")
    if path is None:
        pytest.skip("There is no libseccomp on this machine.")
    return _Resolver(ctypes.CDLL(path), MACHINES[machine][0])


class _Resolver:
    """libseccomp's table of one machine."""

    def __init__(self, library: ctypes.CDLL, machine: int) -> None:
        self._resolve = library.seccomp_syscall_resolve_name_arch
        self._resolve.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
        self._resolve.restype = ctypes.c_int
        self._machine = machine

    def __call__(self, name: str) -> int:
        """The number of the call `name`; negative: none."""
        return int(self._resolve(self._machine, name.encode()))
