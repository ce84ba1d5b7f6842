"""What somebody with a shell in a container does to files, in both runners with walls: none gets out."""

from pathlib import Path

import pytest

from orchestrator.runners.catalog import DescribedRunner
from tests.agreement.runners.attempts import got_through, tried
from tests.agreement.runners.conftest import WALLED
from tests.agreement.runners.stage import Stage

walled = pytest.mark.parametrize("kind", WALLED, indirect=True)


def everything(top: Path) -> dict[str, tuple[int, int]]:
    """What lies there: mode and size."""
    return {
        str(each.relative_to(top)): (each.lstat().st_mode, each.lstat().st_size) for each in top.rglob("*")
    }


@walled
async def test_attack_replies_snapshots_and_the_box_itself_are_not_written_from_inside(
    runner: DescribedRunner, stage: Stage
) -> None:
    (stage.places.box / "replies" / "r-1.json").write_text("{}")
    (stage.places.box / "current_tasks.json").write_text("[]")
    before = everything(stage.places.box)

    found = await tried(
        runner,
        stage,
        """
box = '/workspace/ipc'
attempt('reply', lambda: open(box + '/replies/x.json', 'w'))
attempt('change a reply', lambda: open(box + '/replies/r-1.json', 'r+'))
attempt('remove a reply', lambda: os.unlink(box + '/replies/r-1.json'))
attempt('change a snapshot', lambda: open(box + '/current_tasks.json', 'a'))
attempt('replace a snapshot', lambda: os.rename(box + '/messages', box + '/current_tasks.json'))
attempt('new directory', lambda: os.mkdir(box + '/other'))
attempt('rename a directory', lambda: os.rename(box + '/messages', box + '/old'))
attempt('remove a directory', lambda: os.rmdir(box + '/acks'))
attempt('link in its place', lambda: os.symlink('/etc', box + '/input2'))
attempt('modes', lambda: os.chmod(box, 0o777))
attempt('up and over', lambda: open(box + '/../../other', 'w'))
""",
    )

    assert got_through(found) == {}
    assert everything(stage.places.box) == before


@walled
async def test_attack_device_nodes_are_not_made_and_none_of_the_hosts_is_there(
    runner: DescribedRunner, stage: Stage
) -> None:
    found = await tried(
        runner,
        stage,
        """
for place in ('/workspace/group/', '/workspace/ipc/messages/', '/dev/', '/tmp/'):
    attempt('memory ' + place, lambda: os.mknod(place + 'x', stat.S_IFCHR | 0o666, os.makedev(1, 1)))
    attempt('disk ' + place, lambda: os.mknod(place + 'y', stat.S_IFBLK | 0o666, os.makedev(8, 0)))
blocks = [name for name in os.listdir('/dev') if stat.S_ISBLK(os.lstat('/dev/' + name).st_mode)]
assert not blocks, blocks
for name in ('mem', 'kmem', 'port', 'kvm', 'fuse', 'loop-control', 'net/tun'):
    attempt(name, lambda: os.open('/dev/' + name, os.O_RDWR))
""",
    )

    assert got_through(found) == {}


@walled
async def test_attack_the_kernels_switches_are_not_written(runner: DescribedRunner, stage: Stage) -> None:
    found = await tried(
        runner,
        stage,
        """
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/sys/vm/overcommit_memory',
             '/proc/sys/kernel/ns_last_pid', '/proc/irq/default_smp_affinity', '/sys/kernel/uevent_helper',
             '/sys/power/state', '/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/memory.max',
             '/proc/1/oom_score_adj', '/proc/1/mem', '/proc/kcore', '/proc/kmsg'):
    attempt(path, lambda: os.write(os.open(path, os.O_RDWR), b'-1000'))
attempt('own oom score', lambda: os.write(os.open('/proc/self/oom_score_adj', os.O_RDWR), b'-1000'))
attempt('uid map', lambda: os.write(os.open('/proc/self/uid_map', os.O_RDWR), b'0 0 1'))
""",
    )

    # A map or a score that was set before takes no other; a kernel without the file says so.
    assert got_through(found) == {}


@walled
async def test_attack_a_hard_link_to_a_file_outside_of_its_directories_is_not_made(
    runner: DescribedRunner, stage: Stage
) -> None:
    (stage.places.shared / "shared.txt").write_text("the operator's")
    found = await tried(
        runner,
        stage,
        """
for source in ('/etc/passwd', '/bin/sh', '/workspace/global/shared.txt', '/workspace/ipc/replies',
               '/opt/dovecote/container/agent_runner.py', '/proc/self/environ'):
    for place in ('/workspace/group/x', '/workspace/ipc/messages/x.json', '/home/agent/x'):
        attempt(source + ' ' + place, lambda: os.link(source, place))
""",
    )

    assert got_through(found) == {}


@walled
async def test_attack_the_hosts_links_and_own_roots_lead_nowhere(
    runner: DescribedRunner, stage: Stage, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")

    found = await tried(
        runner,
        stage,
        f"""
os.symlink({str(secret)!r}, '/workspace/group/link')
for path in ('/workspace/group/link', {str(secret)!r}, '/proc/1/root{secret}', '/proc/self/root{secret}',
             '/workspace/group/../../../..{secret}', '/proc/1/cwd/..{secret}'):
    attempt(path, lambda: open(path).read())
""",
    )

    assert got_through(found) == {}


@walled
async def test_attack_what_is_not_read_only_by_name_is_so_by_its_mount(
    runner: DescribedRunner, stage: Stage
) -> None:
    (stage.places.shared / "shared.txt").write_text("the operator's")

    found = await tried(
        runner,
        stage,
        """
for path in ('/workspace/global/shared.txt', '/etc/passwd', '/etc/ld.so.preload', '/usr/bin/python3',
             '/opt/dovecote/container/agent_runner.py', '/opt/dovecote/container/new.py'):
    attempt(path, lambda: os.open(path, os.O_WRONLY | os.O_CREAT))
    attempt('remove ' + path, lambda: os.unlink(path))
attempt('into shared', lambda: os.mkdir('/workspace/global/new'))
""",
    )

    assert got_through(found) == {}
    assert (stage.places.shared / "shared.txt").read_text() == "the operator's"
