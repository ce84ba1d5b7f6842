"""Connections to a provider: kept while they are good, one call at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from orchestrator.contracts.egress_seams import Egress, EgressDoor
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.records.egress import EgressLimits, EgressPolicy, Secret
from tests.edges.egress.conftest import World
from tests.support.egress_world import API, POLICY, POLICY_OF_ANOTHER, asked, message, parsed, sent
from tests.support.eventually import eventually

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


class _SteadyProvider:
    """Keeps each connection open for further calls, until it is told to hang up."""

    def __init__(self) -> None:
        self.connections: list[asyncio.StreamWriter] = []
        self.calls = 0
        self.under_way = 0
        self.most = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer whatever has a head and a body that ends in a brace."""
        self.connections.append(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await reader.readuntil(b"}")
                self.calls += 1
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                await self.may_answer.wait()
                self.under_way -= 1
                writer.write(_ANSWER)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    def hang_up(self) -> None:
        """Close every connection, as servers do with idle ones."""
        for writer in self.connections:
            writer.close()


@asynccontextmanager
async def _steady(limits: EgressLimits | None = None) -> AsyncIterator[tuple[_SteadyProvider, EgressPolicy]]:
    provider = _SteadyProvider()
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    api = replace(API, base=f"http://localhost:{port}", is_named_by_operator=True)
    try:
        yield provider, replace(POLICY, api=api, limits=limits or EgressLimits())
    finally:
        provider.hang_up()
        server.close()


def _lead_to_loopback(world: World, policy: EgressPolicy) -> None:
    assert policy.api is not None
    port = int(policy.api.base.rpartition(":")[2])
    world.network.names["localhost"] = [["127.0.0.1"]]
    world.network.ports["127.0.0.1", port] = port


async def test_a_connection_is_used_again_until_it_is_old_or_the_provider_hangs_up(world: World) -> None:
    async with _steady() as (provider, policy):
        _lead_to_loopback(world, policy)
        door = await world.proxy.open(policy)

        statuses = [(await asked(door, message())).status for _ in range(3)]
        kept = len(provider.connections)
        world.clock.advance(60)
        statuses.append((await asked(door, message())).status)
        old = len(provider.connections)
        provider.hang_up()
        # The next call finds the connection closed, or is told so and may come again.
        await eventually(lambda: _answers(door))

    assert statuses == [200] * 4
    assert (kept, old) == (1, 2)
    assert len(provider.connections) == 3


async def _answers(door: EgressDoor) -> bool:
    return (await asked(door, message())).status == 200


async def test_no_more_calls_are_under_way_than_the_limit_and_the_others_wait(world: World) -> None:
    async with _steady(EgressLimits(requests_in_flight=2)) as (provider, policy):
        _lead_to_loopback(world, policy)
        door = await world.proxy.open(policy)
        provider.may_answer.clear()

        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(asked(door, message())) for _ in range(5)]
            await eventually(lambda: provider.under_way == 2)
            provider.may_answer.set()

    assert [call.result().status for call in calls] == [200] * 5
    assert provider.most == 2


async def test_a_program_that_waits_to_be_asked_for_its_body_is_asked(world: World) -> None:
    door = await world.proxy.open(POLICY)

    came = await sent(door, message(b'{"messages":[]}', "Expect: 100-continue"))

    assert parsed(came, method="POST").status == 200
    assert world.provider.asked[0].header("expect") is None


@pytest.mark.parametrize("text", ["sk-a\nX-Evil: 1", "sk-\u00e9", "sk-\x00"])
async def test_a_credential_that_no_header_holds_is_said_without_showing_it(world: World, text: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        await world.proxy.open(replace(POLICY, credential=Secret(text)))

    assert "sk-" not in f"{refused.value} {refused.value.suggestion}"


@pytest.mark.parametrize(
    "base",
    [
        "ftp://a.example",
        "https://",
        "https://u:p@a.example",
        "https://a.example?x=1",
        "https://a.example:x",
        "a.example",
    ],
)
async def test_a_base_that_is_no_place_is_said_without_its_password(world: World, base: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        await world.proxy.open(replace(POLICY, api=replace(API, base=base)))

    assert "u:p" not in str(refused.value)


async def test_closing_the_proxy_closes_every_door(world: World) -> None:
    egress: Egress = world.proxy
    doors = [await egress.open(policy) for policy in (POLICY, POLICY_OF_ANOTHER)]

    await egress.close()

    assert [door.directory.exists() for door in doors] == [False, False]
