"""The doors on this machine: who comes in, and which pages never do. Source: agents.md section 1."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from orchestrator.cli.logging_setup import TOLD_BY_SERVE, logging_to
from orchestrator.contracts.seams import Clock
from orchestrator.paths import Paths
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.tree import Settings
from tests.edges.api.conftest import Served, served_at
from tests.support.manual_clock import ManualClock

STATUS = "/api/v1/status"


@contextlib.asynccontextmanager
async def on_loopback(
    home: Path, *, clock: Clock | None = None, **settings: object
) -> AsyncIterator[tuple[Served, int]]:
    """A server with a port of its own. Another process may take a port first: then one more is tried."""
    for attempt in range(20):
        paths = Paths(home=home / str(attempt))
        paths.ensure()
        port = free_port()
        given = {"port": port, "refusals_per_minute": 100_000, **settings}
        async with served_at(paths, Settings(api=ApiSettings.model_validate(given)), clock=clock) as served:
            if port in served.server.ports:
                yield served, port
                return
    raise AssertionError("no free port")


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sockets() -> list[str]:
    """The kernel's table of TCP sockets, a line each."""
    return [row for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()]


async def ask(port: int, token: str, *, path: str = STATUS, **headers: str) -> httpx.Response:
    """What a program of this machine is answered at a port."""
    given = {"Authorization": f"Bearer {token}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(f"http://127.0.0.1:{port}{path}", headers=given)


async def test_programs_of_this_machine_come_in_with_a_credential_and_not_without(tmp_path: Path) -> None:
    async with on_loopback(tmp_path) as (served, port):
        known = await ask(port, served.token)
        unknown = await ask(port, "wrong")
        async with httpx.AsyncClient(trust_env=False) as client:
            bare = await client.get(f"http://127.0.0.1:{port}{STATUS}")
            health = await client.get(f"http://127.0.0.1:{port}/api/health")

    assert (known.status_code, unknown.status_code, bare.status_code) == (200, 401, 401)
    assert bare.headers["www-authenticate"] == "Bearer"
    assert health.json()["status"] == "ok"


async def test_nothing_but_loopback_is_listened_on(tmp_path: Path) -> None:
    async with on_loopback(tmp_path) as (_, port):
        table = sockets()
        listening = {row.split()[1] for row in table if row.split()[3] == "0A"}

    assert {each for each in listening if each.endswith(f":{port:04X}")} == {f"0100007F:{port:04X}"}


async def test_attack_a_page_of_another_site_is_turned_away_whatever_it_sends(tmp_path: Path) -> None:
    origins = [
        "https://evil.example",
        "null",
        "http://127.0.0.1",
        "http://localhost:1",
        "http://127.0.0.1.evil.example:{port}",
        "https://127.0.0.1:{port}",
        "http://evil.example:{port}",
        "",
    ]
    async with on_loopback(tmp_path) as (served, port):
        answers = [await ask(port, served.token, Origin=each.format(port=port)) for each in origins]
        health = await ask(port, served.token, path="/api/health", Origin="https://evil.example")
        ours = await ask(port, served.token, Origin=f"http://localhost:{port}")

    assert [(each.status_code, each.json()["error"]["code"]) for each in answers] == [(403, "FORBIDDEN")] * 8
    assert health.status_code == 403
    assert ours.status_code == 200


async def test_attack_a_name_that_was_pointed_at_this_machine_is_no_way_in(tmp_path: Path) -> None:
    hosts = [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.2:{port}",
        "0.0.0.0:{port}",
    ]
    async with on_loopback(tmp_path) as (served, port):
        answers = [await ask(port, served.token, Host=each.format(port=port)) for each in hosts]
        names = [
            await ask(port, served.token, Host=f"{name}:{port}")
            for name in ("localhost", "LOCALHOST", "[::1]")
        ]

    assert [each.status_code for each in answers] == [403] * 6
    assert [each.status_code for each in names] == [200] * 3


async def test_attack_two_hosts_or_two_origins_in_one_request_are_refused(tmp_path: Path) -> None:
    async with on_loopback(tmp_path) as (served, port):
        ours = f"127.0.0.1:{port}"
        twice = [
            f"Host: {ours}\r\nOrigin: http://{ours}\r\nOrigin: https://evil.example\r\n",
            f"Host: {ours}\r\nHost: evil.example\r\n",
            "",
        ]
        statuses = []
        for lines in twice:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            request = f"GET {STATUS} HTTP/1.1\r\n{lines}Authorization: Bearer {served.token}\r\n\r\n"
            writer.write(request.encode())
            statuses.append(int((await reader.readline()).split()[1]))
            writer.close()

    assert set(statuses) <= {400, 403}


async def test_a_page_that_the_operator_names_may_call(tmp_path: Path) -> None:
    async with on_loopback(tmp_path, allowed_origins=("http://localhost:5173",)) as (served, port):
        named = await ask(port, served.token, Origin="http://localhost:5173")
        other = await ask(port, served.token, Origin="http://localhost:5174")

    assert (named.status_code, other.status_code) == (200, 403)


async def test_attack_a_header_that_names_another_address_is_not_believed(tmp_path: Path) -> None:
    async with on_loopback(tmp_path, clock=ManualClock(), refusals_per_minute=3) as (_, port):
        answers = [
            await ask(port, "wrong", X_Forwarded_For=f"10.0.0.{number}", Forwarded=f"for=10.0.0.{number}")
            for number in range(4)
        ]

    assert [each.status_code for each in answers] == [401, 401, 401, 429]


async def test_a_port_that_somebody_else_has_is_told_and_keeps_nothing_from_starting(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = Settings(api=ApiSettings(port=port))
        async with served_at(paths, settings) as served, served.client() as client:
            status = (await client.get(STATUS)).json()

    assert served.server.ports == []
    assert list(status["troubles"]) == [f"api port {port}"]
    assert "api.port" in status["troubles"][f"api port {port}"]


async def test_further_ports_are_the_same_door(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    for _ in range(20):
        ports = (free_port(), free_port())
        async with served_at(
            paths, Settings(api=ApiSettings(port=ports[0], extra_ports=ports[1:]))
        ) as served:
            if sorted(served.server.ports) == sorted(ports):
                answers = [await ask(port, served.token) for port in ports]
                break
    else:
        raise AssertionError("no free ports")

    assert [each.status_code for each in answers] == [200, 200]


async def test_in_dev_mode_the_unix_socket_needs_no_credential_and_loopback_still_does(
    tmp_path: Path,
) -> None:
    async with on_loopback(tmp_path, dev_mode=True) as (served, port):
        async with served.client(token="") as client:
            near = await client.get(STATUS)
        async with served.client(token="wrong") as client:
            wrong = await client.get(STATUS)
        async with httpx.AsyncClient(trust_env=False) as client:
            far = await client.get(f"http://127.0.0.1:{port}{STATUS}")

    assert (near.status_code, wrong.status_code, far.status_code) == (200, 401, 401)


@pytest.mark.parametrize("setting", ["requests_per_minute", "refusals_per_minute"])
async def test_too_many_requests_are_told_when_to_come_again(tmp_path: Path, setting: str) -> None:
    async with on_loopback(tmp_path, clock=ManualClock(), **{setting: 3}) as (served, port):
        token = served.token if setting == "requests_per_minute" else "wrong"
        answers = [await ask(port, token) for _ in range(4)]

    error = answers[-1].json()["error"]
    assert (answers[-1].status_code, error["code"]) == (429, "RATE_LIMITED")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert error["details"]["limit"] == f"api.{setting}"
    assert error["details"]["max"] == 3


async def test_a_stranger_who_knocks_without_end_shuts_out_nobody_with_a_credential(tmp_path: Path) -> None:
    async with on_loopback(tmp_path, clock=ManualClock(), refusals_per_minute=2) as (served, port):
        strangers = [(await ask(port, "wrong")).status_code for _ in range(5)]
        known = await ask(port, served.token)

    assert strangers == [401, 401, 429, 429, 429]
    assert known.status_code == 200


async def test_each_credential_has_a_rate_of_its_own_though_all_share_one_socket(paths: Paths) -> None:
    settings = Settings(api=ApiSettings(loopback=False, requests_per_minute=2))
    async with served_at(paths, settings, clock=ManualClock()) as served:
        async with served.client() as client:
            key = (await client.post("/api/v1/api-keys", json={"name": "a", "scopes": ["manage"]})).json()[
                "key"
            ]
            mine = [(await client.get(STATUS)).status_code for _ in range(2)]
        async with served.client(token=key) as client:
            other = [(await client.get(STATUS)).status_code for _ in range(3)]

    assert mine == [200, 429]
    assert other == [200, 200, 429]


async def test_a_port_that_another_program_has_is_told_with_what_can_be_done(
    tmp_path: Path,
) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = Settings(api=ApiSettings(port=port))
        logs = logging_to(
            paths.log_file,
            settings.logs,
            clock=ManualClock(),
            on_terminal=False,
            tell=said.append,
            told=TOLD_BY_SERVE,
        )
        with logs:
            async with served_at(paths, settings) as served:
                told = dict(served.services.troubles)

    sentence = (
        f"No program comes in at 127.0.0.1:{port}, since another program listens there. "
        "Choose another in api.port of dovecote.toml, or stop that program."
    )
    assert said == [sentence]
    assert told == {f"api port {port}": sentence}
