"""Which doors to the kernel are shut to an agent, in both runners that build walls."""

import ctypes
import json
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.runners import syscall_filter
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.conftest import WALLED, lacking
from tests.agreement.runners.stage import Stage, run

walled = pytest.mark.parametrize("kind", WALLED, indirect=True)

# By machine: keyctl, add_key, request_key, bpf, userfaultfd, perf_event_open, unshare, setns, mount.
_NUMBERS: Final = {
    "x86_64": (250, 248, 249, 321, 323, 298, 272, 308, 165),
    "aarch64": (219, 217, 218, 280, 282, 241, 97, 268, 40),
}
TRY_CALLS: Final = """
import ctypes, errno, json, socket
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(4096)
def call(number, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(number, *arguments)
    return 'open' if answer >= 0 else errno.errorcode[ctypes.get_errno()]
def family(number):
    try:
        socket.socket(number, socket.SOCK_STREAM).close()
        return 'open'
    except OSError as error:
        return errno.errorcode[error.errno]
"""


@pytest.fixture(autouse=True)
def known_machine() -> None:
    """The rules speak of two kinds of machines."""
    if not syscall_filter.is_known(platform.machine()):
        lacking(f"There are no rules for {platform.machine()}.")


@walled
async def test_calls_that_no_namespace_confines_are_refused(runner: DescribedRunner, stage: Stage) -> None:
    keyctl, add_key, request_key, bpf, userfaultfd, perf, unshare, setns, mount = _NUMBERS[platform.machine()]
    code = f"""{TRY_CALLS}
print(json.dumps({{
    'keyctl': call({keyctl}, 0, -3, 1),
    'add_key': call({add_key}, b'user', b'name', b'value', 5, -3),
    'request_key': call({request_key}, b'user', b'name', None, -3),
    'bpf': call({bpf}, 0, room, 64),
    'userfaultfd': call({userfaultfd}, 1),
    'perf_event_open': call({perf}, room, 0, -1, -1, 0),
    'unshare': call({unshare}, 0),
    'setns': call({setns}, -1, 0),
    'mount': call({mount}, None, None, None, 0, None),
    'io_uring_setup': call(425, 1, room),
    'io_uring_enter': call(426, -1, 0, 0, 0, None, 0),
    'io_uring_register': call(427, -1, 0, None, 0),
    'a later one': call(467, -1),
}}))
"""

    ran = await run(runner, stage.plan(code))

    # EINVAL, EBADF or EFAULT would say that the kernel looked at the call.
    found = json.loads(ran.output)
    assert {name: answer for name, answer in found.items() if answer not in ("EPERM", "ENOSYS")} == {}
    assert found["a later one"] == "ENOSYS"


@walled
async def test_sockets_are_of_the_families_that_a_namespace_confines(
    runner: DescribedRunner, stage: Stage
) -> None:
    # AF_VSOCK reaches the machine around, AF_QIPCRTR its modem, AF_ALG the kernel's ciphers.
    code = f"{TRY_CALLS}\nprint(json.dumps({{str(number): family(number) for number in (1, 2, 10, 40, 42)}}))"

    ran = await run(runner, stage.plan(code))

    found = json.loads(ran.output)
    assert {found[number] for number in ("1", "2", "10")} == {"open"}
    assert {found[number] for number in ("40", "42")} <= {"EAFNOSUPPORT", "EPERM", "ENOSYS"}


@walled
async def test_what_programs_need_still_works(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import asyncio, mmap, multiprocessing.shared_memory, os, socket, subprocess, threading
thread = threading.Thread(target=lambda: print('thread', flush=True))
thread.start()
thread.join()
print(subprocess.run(['/bin/sh', '-c', 'echo shell | cat'], capture_output=True, text=True).stdout.strip())
if os.fork() == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
one, other = socket.socketpair()
one.sendall(b'pair')
print(other.recv(4).decode())
async def main():
    child = await asyncio.create_subprocess_exec('/bin/echo', 'async', stdout=-1)
    print((await child.communicate())[0].decode().strip())
asyncio.run(main())
os.memfd_create('x')
os.chmod('/workspace/group', 0o755)
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.pidfd_open(os.getpid())
print(len(os.urandom(4)), os.uname().sysname, os.nice(0))
"""

    ran = await run(runner, stage.plan(code))

    assert ran.output.decode().split() == ["thread", "shell", "7", "pair", "async", "4", "Linux", "0"]


@pytest.fixture
def key_for_all() -> Iterator[str]:
    """The name of a key of this process that every user may see."""
    keyctl, add_key = _NUMBERS[platform.machine()][:2]
    process_keyring, set_permissions, unlink, all_of_ours_and_seen_by_others = -2, 5, 9, 0x3F3F0001
    libc = ctypes.CDLL(None)
    name = new_id("key")
    key = libc.syscall(add_key, b"user", name.encode(), b"value", 5, process_keyring)
    if key < 0:
        lacking("This process may not make a key.")
    libc.syscall(keyctl, set_permissions, key, all_of_ours_and_seen_by_others)
    assert name in Path("/proc/keys").read_text()
    yield name
    libc.syscall(keyctl, unlink, key, process_keyring)


@walled
async def test_the_hosts_keys_are_not_listed(runner: DescribedRunner, stage: Stage, key_for_all: str) -> None:
    code = """
try:
    print(open('/proc/keys').read(), end='')
except OSError:
    pass
print('end')
"""

    ran = await run(runner, stage.plan(code))

    assert ran.output == b"end\n"
