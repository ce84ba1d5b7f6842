"""The rules for system calls in the two forms that runners take: a program for the kernel, and a profile.

Pure. A filter only ever refuses, and all that an agent starts inherits it.
"""

import json
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.runners.syscall_rules import (
    ABSENT,
    ALLOWED,
    CLONE,
    DENIED,
    FIRST_ARGUMENTS,
    NEW_NAMESPACES,
    NEWEST,
    FirstArgument,
)

# Of linux/seccomp.h: what the filter answers.
ALLOW: Final = 0x7FFF0000
KILL_PROCESS: Final = 0x80000000
_ERRNO: Final = 0x00050000
_EPERM: Final = 1
_ENOSYS: Final = 38
# Of linux/bpf_common.h: load a word, jump when equal, when greater, when a bit is set, and return.
_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
# Where a call's parts lie, on machines with the low half first. A number and a family are 32 bits wide.
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_X86_64, _ARM64 = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    """A kind of machine: its column in the rules, and its number in linux/audit.h."""

    column: int
    audit_number: int


_MACHINES: Final = {
    "x86_64": _Machine(column=_X86_64, audit_number=0xC000003E),
    "amd64": _Machine(column=_X86_64, audit_number=0xC000003E),
    "aarch64": _Machine(column=_ARM64, audit_number=0xC00000B7),
    "arm64": _Machine(column=_ARM64, audit_number=0xC00000B7),
}


def is_known(machine: str, *, address_bits: int = sys.maxsize.bit_length() + 1) -> bool:
    """Whether the rules speak of this machine: 32-bit programs have other calls, on the same kernel too."""
    return machine.lower() in _MACHINES and address_bits == 64


def kernel_program(machine: str) -> bytes:
    """The rules as a classic BPF program, as `bwrap --seccomp` reads it. machine: one that is known.

    A call in the manner of another machine, such as one of 32 bits, ends the process.
    """
    kind = _MACHINES[machine.lower()]
    words = [
        _word(_LOAD, _MACHINE),
        *_if(_EQUAL, kind.audit_number, not_then=[_word(_RETURN, KILL_PROCESS)]),
        _word(_LOAD, _NUMBER),
        # x86-64's second set of numbers, with 32-bit addresses, lies above as well.
        *_if(_GREATER, NEWEST, then=[_refuse(_ENOSYS)]),
    ]
    for numbers in ABSENT.values():
        words += _if_called(numbers[kind.column], [_refuse(_ENOSYS)])
    for numbers in DENIED.values():
        words += _if_called(numbers[kind.column], [_refuse(_EPERM)])
    for rule in FIRST_ARGUMENTS:
        words += _if_called(rule.numbers[kind.column], _by_first_argument(rule))
    flags = _if(_ANY_BIT, NEW_NAMESPACES, then=[_refuse(_EPERM)])
    words += _if_called(CLONE[1][kind.column], [_word(_LOAD, _FIRST_ARGUMENT), *flags, _word(_RETURN, ALLOW)])
    return b"".join([*words, _word(_RETURN, ALLOW)])


def docker_profile() -> str:
    """The same rules as a profile for a Docker engine, in JSON. It takes the place of the engine's own.

    What is not named in it fails, with ENOSYS where the engine lets a profile choose.
    """
    rules: list[dict[str, object]] = [{"names": list(ALLOWED), "action": "SCMP_ACT_ALLOW"}]
    for rule in FIRST_ARGUMENTS:
        rules += [_allow_with(rule.name, value, "SCMP_CMP_EQ") for value in rule.allowed]
    # Masked: equal to zero, the second value, once the bits of the first are cut out.
    rules.append(_allow_with(CLONE[0], NEW_NAMESPACES, "SCMP_CMP_MASKED_EQ"))
    rules.append({"names": list(ABSENT), "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS})
    machines = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": _ENOSYS,
            "archMap": [{"architecture": name, "subArchitectures": []} for name in machines],
            "syscalls": rules,
        }
    )


def _allow_with(name: str, value: int, comparison: str) -> dict[str, object]:
    argument = {"index": 0, "value": value, "op": comparison}
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": [argument]}


def _by_first_argument(rule: FirstArgument) -> list[bytes]:
    words = [_word(_LOAD, _FIRST_ARGUMENT)]
    for value in rule.allowed:
        words += _if(_EQUAL, value, then=[_word(_RETURN, ALLOW)])
    return [*words, _refuse(rule.error)]


def _if_called(number: int | None, then: Sequence[bytes]) -> list[bytes]:
    """`then` must end by returning: it may have loaded something else than the number."""
    return [] if number is None else _if(_EQUAL, number, then=then)


def _if(test: int, value: int, *, then: Sequence[bytes] = (), not_then: Sequence[bytes] = ()) -> list[bytes]:
    """A jump over `then` when the test fails, or over `not_then` when it holds; only one of them is given."""
    jump = _word(test, value, when_true=len(not_then), when_false=len(then))
    return [jump, *then, *not_then]


def _refuse(error: int) -> bytes:
    return _word(_RETURN, _ERRNO | error)


def _word(code: int, value: int, *, when_true: int = 0, when_false: int = 0) -> bytes:
    """One instruction. when_true, when_false: how many of the next ones a jump leaves out."""
    return struct.pack("=HBBI", code, when_true, when_false, value)
