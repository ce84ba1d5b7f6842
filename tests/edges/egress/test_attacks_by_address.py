"""Places that an agent tries to reach through the proxy, each on a real Unix socket."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_address

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.records.definitions import HostPort
from orchestrator.egress.look_up import SystemResolver, is_this_machine
from orchestrator.egress.route import Route, Unreachable
from tests.edges.egress.conftest import World
from tests.support.egress_world import API, POLICY, PUBLIC, Network, asked, message, parsed, request, sent

_HOST = "files.example.org"

_ELSEWHERE = [
    "evil.example:443",
    "sub.files.example.org:443",
    "files.example.org.evil.example:443",
    "files.example.org:444",
    "files.example.org:22",
    "files.example.org",
    "files.example.org.:443",
    "files.example.org:00443",
    "files.example.org:+443",
    "files.example.org:443:443",
    "user@files.example.org:443",
    "files.example.org:443@evil.example:443",
    "https://files.example.org:443",
    "xn--fles-vpa.example.org:443",
    "f%69les.example.org:443",
    "127.0.0.1:443",
    "169.254.169.254:80",
    "93.184.216.34:443",
    "2130706433:443",
    "0177.0.0.1:443",
    "0x7f000001:443",
    "0x7f.1:443",
    "127.1:443",
    "0:443",
    "[::1]:443",
    "[::ffff:127.0.0.1]:443",
    "[fe80::1%25eth0]:443",
    "[64:ff9b::7f00:1]:443",
    "::1:443",
    "localhost:443",
]


@pytest.mark.parametrize("authority", _ELSEWHERE)
async def test_h1_only_a_listed_name_and_port_is_ever_looked_up(world: World, authority: str) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request("CONNECT", authority))

    assert answer.status in {400, 403}
    assert world.network.looked_up == []
    assert world.network.dialled == []


async def test_even_a_listed_address_is_no_name(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, hosts=(HostPort(host="127.0.0.1", port=443),)))

    answer = await asked(door, request("CONNECT", "127.0.0.1:443"))

    assert answer.status == 403
    assert world.network.dialled == []


_NOT_PUBLIC = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1%lo",
    "fd00::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::1",
    "2001:0:53aa:64c::1",
    "2606:4700::5efe:7f00:1",
    "2001:db8::1",
    "nonsense",
]


@pytest.mark.parametrize("address", _NOT_PUBLIC)
async def test_a_listed_name_that_stands_for_an_address_inside_is_not_connected_to(
    world: World, address: str
) -> None:
    door = await world.proxy.open(POLICY)
    world.network.names[_HOST] = [[address]]

    answer = await asked(door, request("CONNECT", f"{_HOST}:443"))

    assert answer.status == 502
    assert world.network.looked_up == [_HOST]
    assert world.network.dialled == []


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:192.168.0.1", "fd00::1"])
async def test_a_provider_whose_name_leads_inside_gets_no_credential(world: World, address: str) -> None:
    door = await world.proxy.open(POLICY)
    world.network.names["api.provider.test"] = [[address]]

    answer = await asked(door, message())

    assert answer.status == 502
    assert world.network.dialled == []


async def test_this_machines_own_public_address_is_refused_too() -> None:
    network = Network(names={_HOST: [[PUBLIC]]})
    route = Route(resolver=network, dial=network.dial, is_ours=lambda address: address == ip_address(PUBLIC))

    with pytest.raises(Unreachable, match="this machine"):
        await route.connect(_HOST, 443, within_s=30)

    assert network.dialled == []


def test_the_addresses_of_this_machine_are_known_by_what_can_be_bound_to() -> None:
    addresses = [ip_address(text) for text in ("127.0.0.1", "127.9.9.9", PUBLIC, "2606:4700::1111")]

    assert [is_this_machine(address) for address in addresses] == [True, True, False, False]


async def test_the_systems_resolver_knows_the_name_of_this_machine_and_not_one_that_nobody_has() -> None:
    with ThreadPoolExecutor(1) as threads:
        resolver = SystemResolver(threads)

        assert set(await resolver.addresses("localhost")) <= {"127.0.0.1", "::1"}
        assert await resolver.addresses("no-such-name.invalid") == []


async def test_each_look_up_is_judged_anew_and_the_address_that_was_judged_is_dialled(world: World) -> None:
    door = await world.proxy.open(POLICY)
    world.network.ports[PUBLIC, 443] = world.provider.port
    world.network.names[_HOST] = [[PUBLIC], ["127.0.0.1"], ["10.0.0.1", PUBLIC]]

    answers = [
        parsed(await sent(door, request("CONNECT", f"{_HOST}:443") + b"no TLS\r\n\r\n"), method="CONNECT")
        for _ in range(3)
    ]

    assert [answer.status for answer in answers] == [200, 502, 200]
    assert world.network.looked_up == [_HOST] * 3
    assert world.network.dialled == [(PUBLIC, 443)] * 2


async def test_a_providers_name_that_is_turned_inwards_between_calls_is_refused(world: World) -> None:
    door = await world.proxy.open(POLICY)
    world.network.names["api.provider.test"] = [[PUBLIC], ["127.0.0.1"]]

    statuses = [(await asked(door, message())).status for _ in range(2)]

    assert statuses == [200, 502]
    assert world.network.dialled == [(PUBLIC, 443)]


@pytest.mark.parametrize("header", ["Content-Length: 5", "Transfer-Encoding: chunked"])
async def test_a_tunnel_is_not_asked_for_with_a_body(world: World, header: str) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request("CONNECT", f"{_HOST}:443", header))

    assert answer.status == 400
    assert world.network.looked_up == []


async def test_plain_http_to_a_provider_needs_the_operators_word(world: World) -> None:
    with pytest.raises(InvalidSettings, match="operator names"):
        await world.proxy.open(replace(POLICY, api=replace(API, base="http://api.provider.test")))
