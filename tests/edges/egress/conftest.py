"""A proxy on a real Unix socket, a provider behind real TLS, and a network in the test's hand."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.egress.proxy import EgressProxy, opened_egress
from tests.support.certificates import ServerIdentity, server_identity
from tests.support.egress_world import PUBLIC, CountedUse, Network
from tests.support.manual_clock import ManualClock
from tests.support.scripted_upstream import ScriptedUpstream, scripted_upstream


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a test of the way out has around it."""

    proxy: EgressProxy
    provider: ScriptedUpstream
    network: Network
    use: CountedUse
    clock: ManualClock


@pytest.fixture(scope="session")
def identity(tmp_path_factory: pytest.TempPathFactory) -> ServerIdentity:
    return server_identity(tmp_path_factory.mktemp("identity"), "api.provider.test", "files.example.org")


@pytest.fixture
async def world(tmp_path: Path, identity: ServerIdentity) -> AsyncIterator[World]:
    network, use, clock = Network(), CountedUse(), ManualClock()
    async with (
        scripted_upstream(ssl=identity.server_tls()) as provider,
        opened_egress(
            tmp_path / "egress",
            meter=use,
            clock=clock,
            resolver=network,
            dial=network.dial,
            tls=identity.client_tls,
        ) as proxy,
    ):
        network.names["api.provider.test"] = [[PUBLIC]]
        network.ports[PUBLIC, 443] = provider.port
        yield World(proxy=proxy, provider=provider, network=network, use=use, clock=clock)
