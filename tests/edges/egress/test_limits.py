"""One agent's way out under load and abuse, and what another agent notices of it: nothing."""

import asyncio
import contextlib
import os
import resource
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.egress_seams import EgressDoor
from orchestrator.contracts.records.egress import EGRESS_SOCKET, EgressLimits
from orchestrator.egress.proxy import opened_egress
from tests.edges.egress.conftest import World
from tests.support.egress_world import (
    POLICY,
    POLICY_OF_ANOTHER,
    PUBLIC,
    CountedUse,
    Network,
    asked,
    connect,
    message,
    parsed,
    read_all,
    request,
    socket_of,
)
from tests.support.eventually import eventually
from tests.support.manual_clock import ManualClock

_TUNNEL = request("CONNECT", "files.example.org:443")


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if hard > 0 else 4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
async def test_a_thousand_idle_connections_of_one_agent_keep_no_other_from_its_provider(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, limits=EgressLimits(connections=10)))
    other = await world.proxy.open(POLICY_OF_ANOTHER)
    idle = [await connect(door) for _ in range(1000)]

    answer = await asked(other, message())

    assert answer.status == 200
    await eventually(lambda: sum(reader.at_eof() for reader, _ in idle) == 990)
    for _, writer in idle:
        writer.transport.abort()
    # Once the idle ones are gone, there is room again.
    await eventually(lambda: _is_answered(door))


async def _is_answered(door: EgressDoor) -> bool:
    with contextlib.suppress(AssertionError, OSError):
        return (await asked(door, message())).status == 200
    return False


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Slow: ", id="half a head"),
        pytest.param(
            b'POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"mess', id="half a body"
        ),
        pytest.param(
            b'POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{"mess',
            id="half in chunks",
        ),
    ],
)
async def test_a_request_that_does_not_go_on_is_given_up_and_its_room_is_free_again(
    world: World, beginning: bytes
) -> None:
    limits = EgressLimits(connections=1, idle_s=0.5)
    door = await world.proxy.open(replace(POLICY, limits=limits))
    reader, writer = await connect(door)
    writer.write(beginning)

    async with asyncio.timeout(30):
        came = await read_all(reader)
    writer.transport.abort()

    assert came == b""
    assert world.provider.connections == 0
    await eventually(lambda: _is_answered(door))


async def test_slow_bodies_that_fill_the_room_delay_their_own_agent_only(world: World) -> None:
    limits = EgressLimits(request_bytes=1000)
    door = await world.proxy.open(replace(POLICY, limits=limits))
    other = await world.proxy.open(POLICY_OF_ANOTHER)
    slow = [await connect(door) for _ in range(3)]
    for _, writer in slow:
        writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{")

    answer = await asked(other, message())

    assert answer.status == 200
    for _, writer in slow:
        writer.transport.abort()
    # The slow ones are gone: whoever waited behind them gets its turn.
    await eventually(lambda: _is_answered(door))


async def test_a_tunnel_carries_both_ways_and_passes_on_each_end_by_itself(world: World) -> None:
    door = await world.proxy.open(POLICY)

    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Only at the end of what the agent says, which therefore has to come through alone.
        writer.write((await reader.read()).upper())
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    world.network.names["files.example.org"] = [[PUBLIC]]
    world.network.ports[PUBLIC, 443] = server.sockets[0].getsockname()[1]
    reader, writer = await connect(door)
    writer.write(_TUNNEL + b"early, ")
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"later")
    writer.write_eof()

    async with asyncio.timeout(30):
        came = await read_all(reader)
    writer.close()
    server.close()

    assert head.startswith(b"HTTP/1.1 200")
    assert came == b"EARLY, LATER"
    assert world.use.calls == []


@pytest.mark.parametrize("limits", [EgressLimits(tunnel_bytes=200_000), EgressLimits(idle_s=2)])
async def test_a_tunnel_ends_when_it_has_carried_what_it_may_or_is_quiet_for_too_long(
    world: World, limits: EgressLimits
) -> None:
    door = await world.proxy.open(replace(POLICY, limits=limits))
    carried, ended = bytearray(), asyncio.Event()

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carried.extend(await read_all(reader))
        writer.close()
        ended.set()

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    world.network.names["files.example.org"] = [[PUBLIC]]
    world.network.ports[PUBLIC, 443] = server.sockets[0].getsockname()[1]
    reader, writer = await connect(door)
    writer.write(_TUNNEL)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"x" * (1_000_000 if limits.tunnel_bytes < 1_000_000 else 1))

    async with asyncio.timeout(60):
        rest = await read_all(reader)
        await ended.wait()
    writer.transport.abort()
    server.close()

    assert head.startswith(b"HTTP/1.1 200")
    assert rest == b""
    # The piece that fills it up is still carried.
    assert len(carried) <= limits.tunnel_bytes + 64 * 1024


async def test_only_the_agents_own_user_and_ours_get_to_the_socket_and_it_goes_with_the_door(
    world: World,
) -> None:
    door = await world.proxy.open(POLICY)
    directory = door.directory
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (directory, socket_of(directory))]
    reader, writer = await connect(door)
    writer.write(b"GET /v1/mod")

    await door.close()
    await door.close()

    assert modes == [0o700, 0o600]
    assert not directory.exists()
    assert await read_all(reader) == b""
    writer.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a socket to another user")
async def test_an_agent_with_a_uid_of_its_own_owns_its_socket(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, uid=54_321))

    found = [os.stat(path) for path in (door.directory, socket_of(door.directory))]

    assert [status.st_uid for status in found] == [54_321, 54_321]
    assert [stat.S_IMODE(status.st_mode) for status in found] == [0o500, 0o600]
    assert (await asked(door, message())).status == 200


async def test_a_directory_that_a_container_still_holds_is_taken_over_and_stale_ones_are_removed(
    world: World,
) -> None:
    door = await world.proxy.open(POLICY)
    stale = door.directory.with_name("0123456789ab")
    stale.mkdir()
    (stale / "proxy.sock").touch()
    inode = door.directory.stat().st_ino

    await world.proxy.remove_stale([POLICY.agent_id])
    again = door.directory
    await door.close()
    again.mkdir()
    (again / "proxy.sock").touch()
    kept = again.stat().st_ino
    door = await world.proxy.open(POLICY)

    assert inode
    assert not stale.exists()
    assert door.directory.stat().st_ino == kept
    assert (await asked(door, message())).status == 200


async def test_a_home_with_a_long_path_has_ways_out_too(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    use, network = CountedUse(), Network()
    async with opened_egress(deep, meter=use, clock=ManualClock(), resolver=network) as proxy:
        door = await proxy.open(replace(POLICY, api=None))
        here = os.open(door.directory, os.O_PATH | os.O_DIRECTORY)
        reader, writer = await asyncio.open_unix_connection(f"/proc/self/fd/{here}/{EGRESS_SOCKET}")
        os.close(here)
        writer.write(message())

        answer = parsed(await read_all(reader))
        writer.close()

    assert answer.status == 403


async def test_what_an_agent_used_is_counted_though_its_door_is_closed_meanwhile(world: World) -> None:
    door = await world.proxy.open(POLICY)
    world.use.may_record.clear()
    reader, writer = await connect(door)
    writer.write(message())
    answer = parsed(await reader.readuntil(b"\r\n\r\n{}"))
    await door.close()
    writer.close()
    before = list(world.use.calls)

    world.use.may_record.set()

    await eventually(lambda: len(world.use.calls) == 1)
    assert answer.status == 200
    assert before == []
