"""What somebody with a shell in a container does to the machine around it: it stays as it is."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.ids import new_id
from orchestrator.contracts.records.launch import ResourceLimits
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.attempts import got_through, tried
from tests.agreement.runners.conftest import WALLED
from tests.agreement.runners.stage import Stage, run

walled = pytest.mark.parametrize("kind", WALLED, indirect=True)


@pytest.fixture
async def sleeper(stage: Stage) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process of the host, of the same user as the agent."""
    process = await asyncio.create_subprocess_exec("/bin/cat", user=stage.uid, stdin=asyncio.subprocess.PIPE)
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


@walled
async def test_attack_a_signal_to_everybody_reaches_no_process_of_the_host(
    runner: DescribedRunner, stage: Stage, sleeper: asyncio.subprocess.Process
) -> None:
    code = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
attempt('by number', lambda: os.kill({sleeper.pid}, signal.SIGKILL))
attempt('traced', lambda: 1 / (ctypes.CDLL(None, use_errno=True).ptrace(16, {sleeper.pid}, 0, 0) + 1))
attempt('its memory', lambda: os.open('/proc/{sleeper.pid}/mem', os.O_RDWR))
attempt('its files', lambda: os.listdir('/proc/{sleeper.pid}/fd'))
with __import__('contextlib').suppress(OSError):
    os.kill(-1, signal.SIGTERM)
"""

    found = await tried(runner, stage, code)

    assert got_through(found) == {}
    assert sleeper.returncode is None
    os.kill(sleeper.pid, 0)


@pytest.fixture
def host_sockets(stage: Stage) -> Iterator[str]:
    """A listener of the host without a place in the file system; its name."""
    name = new_id("abstract")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        yield name


@walled
async def test_attack_no_socket_of_the_host_is_reached(
    runner: DescribedRunner, stage: Stage, host_sockets: str
) -> None:
    found = await tried(
        runner,
        stage,
        f"""
def connected(address):
    client = socket.socket(socket.AF_UNIX)
    client.connect(address)
    return 'connected'
attempt('without a place', lambda: connected(chr(0) + {host_sockets!r}))
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock',
             '/run/dbus/system_bus_socket', '/run/systemd/private'):
    attempt(path, lambda: connected(path))
attempt('raw packets', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('raw ip', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
left = []
for top, _, names in os.walk('/', onerror=lambda error: None):
    if top.startswith(('/proc', '/sys', '/usr')):
        continue
    for name in names:
        try:
            if stat.S_ISSOCK(os.lstat(os.path.join(top, name)).st_mode):
                left.append(os.path.join(top, name))
        except OSError:
            pass
if left:
    found['sockets'] = ['done', repr(left)]
""",
    )

    assert got_through(found) == {}


@walled
async def test_attack_a_program_with_the_rights_of_its_owner_gains_none(
    runner: DescribedRunner, stage: Stage
) -> None:
    found = await tried(
        runner,
        stage,
        """
import shutil, subprocess
shutil.copy('/bin/sh', '/workspace/group/sh')
attempt('to root', lambda: os.setuid(0))
attempt('to another', lambda: os.setresuid(1, 1, 1))
attempt('groups', lambda: os.setgroups([0]))
attempt('owner', lambda: os.chown('/workspace/group/sh', 0, 0))
with __import__('contextlib').suppress(OSError):
    os.chmod('/workspace/group/sh', 0o6755)
uid = subprocess.run(['/workspace/group/sh', '-c', 'id -u'], capture_output=True, text=True).stdout.strip()
if uid not in ('', str(os.getuid())):
    found['id'] = ['done', uid]
""",
    )

    # In a user namespace of its own a process may give away what it never had; it stays itself.
    assert {name for name in got_through(found) if name in ("to root", "to another", "owner", "id")} == set()


async def test_attack_opening_files_without_end_ends_at_a_limit_of_the_agents_own(
    runner: DescribedRunner, stage: Stage
) -> None:
    found = await tried(
        runner,
        stage,
        """
held = []
def open_all():
    while len(held) < 50_000:
        held.append(os.open('/dev/null', os.O_RDONLY))
    return len(held)
attempt('without end', open_all)
count = len(held)
for each in held:
    os.close(each)
found['count'] = ['refused', str(count)]
""",
    )

    assert found["without end"] == ["refused", "EMFILE"]
    assert 900 <= int(found["count"][1]) <= ResourceLimits().open_files


@walled
async def test_attack_an_agent_gives_itself_no_more_of_the_machine(
    runner: DescribedRunner, stage: Stage
) -> None:
    found = await tried(
        runner,
        stage,
        """
import resource, time
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
libc = ctypes.CDLL(None, use_errno=True)
def called(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), '')
    return answer
attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
attempt('real time', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
attempt('the clock', lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
attempt('the name', lambda: socket.sethostname('mine'))
attempt('chroot', lambda: os.chroot('/tmp'))
attempt('swap', lambda: called(libc.swapoff(b'/dev/sda')))
attempt('reboot', lambda: called(libc.reboot(0x01234567)))
attempt('a module', lambda: called(libc.syscall(175, b'', 0, b'')))
attempt('unmount', lambda: called(libc.umount2(b'/workspace/ipc', 2)))
attempt('remount', lambda: called(libc.mount(b'none', b'/workspace/ipc', None, 32, None)))
attempt('a user namespace', lambda: called(libc.unshare(0x10000000)))
attempt('a mount namespace', lambda: called(libc.unshare(0x00020000)))
""",
    )

    assert got_through(found) == {}


def host_segments() -> set[str]:
    """The keys of the host's shared memory that this test could have made."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {key for line in lines if (key := line.split()[0]) == str(0x00D0FE)}


@walled
async def test_attack_shared_memory_and_queues_are_not_those_of_the_host(
    runner: DescribedRunner, stage: Stage
) -> None:
    before = host_segments()

    found = await tried(
        runner,
        stage,
        """
libc = ctypes.CDLL(None, use_errno=True)
made = libc.shmget(0x00D0FE, 4096, 0o1000 | 0o666)
found['made'] = ['refused', str(made)]
found['there'] = ['refused', str(len(open('/proc/sysvipc/shm').read().splitlines()) - 1)]
""",
    )

    assert host_segments() <= before
    assert int(found["there"][1]) <= 1


@walled
async def test_attack_a_tree_of_processes_that_hides_from_its_parents_dies_with_its_agent(
    runner: DescribedRunner, stage: Stage
) -> None:
    mark = new_id("hidden")
    code = f"""
import os, sys, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])
        os._exit(0)
time.sleep(0.3)
"""

    await run(runner, stage.plan(code))

    assert processes_with(mark) == []


def processes_with(mark: str) -> list[str]:
    """What runs on the host with that word on its command line."""
    return [
        each.name
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and mark.encode() in _read(each / "cmdline")
    ]


def _read(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


@walled
async def test_attack_a_fork_bomb_that_never_waits_ends_at_the_limit_and_the_host_goes_on(
    runner: DescribedRunner, stage: Stage
) -> None:
    code = """
import os
refused = 0
for _ in range(2_000):
    try:
        if os.fork() == 0:
            os.setsid()
            __import__('time').sleep(600)
    except OSError:
        refused += 1
print(refused, flush=True)
"""

    ran = await run(runner, stage.plan(code, limits=ResourceLimits(processes=30)))

    assert int(ran.output) >= 1_970
    await asyncio.wait_for((await asyncio.create_subprocess_exec("/bin/true")).wait(), 30)
