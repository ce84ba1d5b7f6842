"""What an agent can't do, in both runners that build walls."""

import asyncio
import json
import os
from typing import Final

import pytest

from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND, ResourceLimits
from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.conftest import WALLED
from tests.agreement.runners.stage import Stage, read_line, run

MIB: Final = 1024**2
walled = pytest.mark.parametrize("kind", WALLED, indirect=True)

TRY_PLACES: Final = """
import json, os
places = ['/workspace/group', '/workspace/global', '/workspace/ipc', '/home/agent', '/tmp', '/', '/usr',
          '/etc', '/opt/dovecote', '/dev']
places += ['/workspace/ipc/' + name
           for name in ('messages', 'tasks', 'agents', 'mail', 'input', 'acks', 'replies')]
found = {}
for place in places:
    try:
        open(place + '/trial', 'w').close()
        found[place] = 'writable'
    except OSError as error:
        found[place] = 'refused'
try:
    os.rename('/workspace/ipc/messages', '/workspace/ipc/other')
    found['rename'] = 'writable'
except OSError:
    found['rename'] = 'refused'
print(json.dumps(found))
"""


@walled
async def test_h4_h5_an_agent_writes_where_it_may_and_nowhere_else(
    runner: DescribedRunner, stage: Stage
) -> None:
    ran = await run(runner, stage.plan(TRY_PLACES))

    found = json.loads(ran.output)
    assert {place for place, result in found.items() if result == "writable"} - {"/dev"} == {
        "/workspace/group",
        "/home/agent",
        "/tmp",
        *(f"/workspace/ipc/{name}" for name in ("messages", "tasks", "agents", "mail", "input", "acks")),
    }
    assert (stage.places.workspace / "trial").exists()
    assert (stage.places.box / "messages" / "trial").exists()


@walled
async def test_what_an_agent_writes_belongs_to_its_user_on_the_host(
    runner: DescribedRunner, stage: Stage
) -> None:
    await run(runner, stage.plan("open('/workspace/group/mine', 'w').close()"))

    found = (stage.places.workspace / "mine").stat()
    assert found.st_uid == (stage.uid if stage.uid is not None else os.geteuid())


@walled
async def test_e11_the_walls_compare_equal_to_the_plan(runner: DescribedRunner, stage: Stage) -> None:
    """Case E11."""
    handle = await runner.start(stage.plan("import sys; sys.stdin.read()"))

    try:
        await handle.check_walls({})
    finally:
        await handle.close()


@walled
async def test_an_agent_is_nobody_special(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import ctypes, json, os
status = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())
libc = ctypes.CDLL(None, use_errno=True)
print(json.dumps({
    'uid': os.getuid(), 'new': status['NoNewPrivs'].strip(),
    'sets': sorted({status[name].strip() for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}),
    'processes': sum(name.isdigit() for name in os.listdir('/proc')),
    'namespace': libc.unshare(0x10000000), 'mount': libc.mount(b'x', b'/tmp', b'tmpfs', 0, None),
}))
"""

    ran = await run(runner, stage.plan(code))

    found = json.loads(ran.output)
    assert found["uid"] != 0
    assert found["new"] == "1"
    assert found["sets"] == ["0000000000000000"]
    assert found["processes"] == 2
    assert found["namespace"] == -1
    assert found["mount"] == -1


@walled
async def test_there_is_no_network(runner: DescribedRunner, stage: Stage) -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    code = f"""
import os, socket
try:
    socket.create_connection(('127.0.0.1', {port}), timeout=3)
    print('reached the host')
except OSError:
    print('refused')
print(sorted(os.listdir('/sys/class/net')) if os.path.exists('/sys/class/net') else ['lo'])
"""

    async with server:
        ran = await run(runner, stage.plan(code))

    assert ran.output.decode().splitlines()[0] == "refused"
    assert "eth0" not in ran.output.decode()


async def test_the_environment_holds_what_the_plan_says_and_nothing_of_ours(
    runner: DescribedRunner, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVECOTE_CANARY", "sk-secret")
    plan = stage.plan("import json, os; print(json.dumps(dict(os.environ)))")

    ran = await run(runner, plan)

    found = json.loads(ran.output)
    # The last four are made by a shell, libc or the walls themselves.
    assert found.keys() - plan.environment.keys() <= {"PWD", "LC_CTYPE", "HOSTNAME", "SHLVL"}
    assert plan.environment.keys() <= found.keys()
    assert found["TZ"] == "Europe/Berlin"
    assert "sk-secret" not in ran.output.decode()


async def test_h5_nothing_that_an_agent_wrote_runs_at_its_next_start(
    runner: DescribedRunner, stage: Stage
) -> None:
    user_site = stage.places.home / ".local/lib/python3.11/site-packages"
    user_site.mkdir(parents=True)
    for trap in (stage.places.workspace / "json.py", user_site / "usercustomize.py"):
        trap.write_text("import os; os.write(1, b'hijacked')")
    handle = await runner.start(stage.plan("", command=AGENT_RUNNER_COMMAND))

    try:
        first = await read_line(handle.output())
    finally:
        await handle.close()

    assert first.startswith(b'AGENT_EVENT {"protocol":1')


@walled
async def test_the_hosts_private_places_are_not_there(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import json, os
def names(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
shadow = os.access('/etc/shadow', os.R_OK)
print(json.dumps({'home': names('/home'), 'root': names('/root'), 'shadow': shadow}))
"""

    ran = await run(runner, stage.plan(code))

    assert json.loads(ran.output) == {"home": ["agent"], "root": [], "shadow": False}


@walled
async def test_e8_a_fork_bomb_stays_inside(runner: DescribedRunner, stage: Stage) -> None:
    """Case E8."""
    code = """
import os, time
made = 0
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
    except BlockingIOError:
        break
print(made, flush=True)
"""

    ran = await run(runner, stage.plan(code, limits=ResourceLimits(processes=40)))

    assert 10 <= int(ran.output) <= 40


@walled
async def test_e8_a_memory_hog_is_killed_and_told_so(runner: DescribedRunner, stage: Stage) -> None:
    """Case E8."""
    code = "held = []\nwhile True:\n    held.append(b'x' * 4_000_000)"

    ran = await run(
        runner, stage.plan(code, limits=ResourceLimits(memory_bytes=96 * MIB), runs_model_commands=True)
    )

    assert ran.status.is_oom
    assert ran.status.code == 137


@walled
async def test_temporary_files_are_bounded(runner: DescribedRunner, stage: Stage) -> None:
    code = """
import errno
for place in ('/tmp/big', '/dev/shm/big'):
    try:
        with open(place, 'wb', buffering=0) as file:
            for _ in range(40):
                file.write(b'x' * 1_000_000)
        print('unbounded')
    except OSError as error:
        print(errno.errorcode[error.errno])
"""

    ran = await run(runner, stage.plan(code, limits=ResourceLimits(tmp_bytes=16 * MIB, shm_bytes=8 * MIB)))

    assert ran.output.decode().split() == ["ENOSPC", "ENOSPC"]
