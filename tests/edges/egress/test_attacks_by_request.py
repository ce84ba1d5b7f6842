"""Requests that an agent makes up to get past the proxy, each on a real Unix socket."""

import json
from dataclasses import replace

import pytest

from orchestrator.contracts.records.egress import EgressLimits
from orchestrator.contracts.records.providers import WireFormat
from tests.edges.egress.conftest import World
from tests.support.egress_world import API, POLICY, asked, message, parsed, request, sent
from tests.support.scripted_upstream import json_answer


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/v1/files"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/organizations/users"),
        ("GET", "/v1/messages"),
        ("DELETE", "/v1/models/m"),
        ("POST", "/v1/Messages"),
        ("POST", "/v1/messages/"),
        ("GET", "/v1/models/a/b"),
    ],
)
async def test_nothing_of_the_provider_but_the_listed_calls_is_reachable(
    world: World, method: str, target: str
) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request(method, target, body=b"{}" if method == "POST" else b""))

    assert answer.status == 403
    assert json.loads(answer.body)["error"]["type"] == "permission_error"
    assert world.provider.connections == 0


@pytest.mark.parametrize(
    "target",
    [
        "/v1/models/../files",
        "/v1/models/%2e%2e/files",
        "/v1/models/..%2ffiles",
        "/v1/models/%2E./files",
        "/v1//models",
        "//evil.example/v1/models",
        "/v1/models/%00",
        "/v1/models/a%252f..",
        "/v1/models/a\\b",
        "/v1/models;x=1",
        "/v1/models%3Fkey=1",
        "/v1/models#x",
        "/v1/models/%zz",
    ],
)
async def test_a_path_that_can_be_read_in_two_ways_is_refused(world: World, target: str) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request("GET", target))

    assert answer.status in {400, 403}
    assert world.provider.connections == 0


@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/v1/models",
        "https://api.provider.test/v1/models",
        "HTTP://169.254.169.254/latest/meta-data",
        "http://api.provider.test@evil.example/v1/models",
        "evil.example/v1/models",
        "*",
    ],
)
async def test_an_absolute_target_leads_nowhere(world: World, target: str) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request("GET", target))

    assert answer.status == 403
    assert world.network.looked_up == []


async def test_a_forged_host_changes_nothing_for_the_provider(world: World) -> None:
    door = await world.proxy.open(POLICY)
    forged = message().replace(b"Host: 127.0.0.1:18080", b"Host: admin.provider.test")

    answer = await asked(door, forged)

    assert answer.status == 200
    assert world.provider.asked[0].header("host") == "api.provider.test"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(
            b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{}",
            id="length and chunks",
        ),
        pytest.param(
            b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
            id="two lengths",
        ),
        pytest.param(
            b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n{}",
            id="unknown coding",
        ),
        pytest.param(
            b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n{}",
            id="two codings",
        ),
        pytest.param(b"GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", id="two hosts"),
        pytest.param(b"GET /v1/models HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"GET /v1/models HTTP/1.1\r\nHost : a\r\n\r\n", id="space before the colon"),
        pytest.param(b"GET /v1/models HTTP/1.1\r\nHost: a\r\nX: a\rEvil: b\r\n\r\n", id="bare return"),
        pytest.param(b"GET /v1/models HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", id="null in a header"),
        pytest.param(b"GET /v1/mod els HTTP/1.1\r\nHost: a\r\n\r\n", id="space in the target"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="preface of HTTP/2"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
    ],
)
async def test_what_two_servers_could_read_differently_is_not_passed_on(world: World, raw: bytes) -> None:
    door = await world.proxy.open(POLICY)

    answer = parsed(await sent(door, raw), method="POST")

    assert answer.status in {400, 403, 501, 505}
    assert world.provider.connections == 0


async def test_a_request_hidden_in_a_body_stays_a_body(world: World) -> None:
    door = await world.proxy.open(POLICY)
    hidden = b'{"messages":[],"x":"\\r\\n\\r\\nPOST /v1/files HTTP/1.1\\r\\n"}'

    answer = await asked(door, message(hidden))

    assert answer.status == 200
    assert [each.body for each in world.provider.asked] == [hidden]


async def test_an_upgrade_is_not_passed_on(world: World) -> None:
    door = await world.proxy.open(POLICY)
    upgrade = request("GET", "/v1/models", "Upgrade: websocket", "Sec-WebSocket-Key: AAAA")

    answer = await asked(door, upgrade.replace(b"Connection: close", b"Connection: upgrade, close"))

    assert answer.status == 200
    assert world.provider.asked[0].header("upgrade") is None
    assert world.provider.asked[0].header("sec-websocket-key") is None


async def test_a_huge_header_is_refused_unread(world: World) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, request("GET", "/v1/models", f"X-Long: {'x' * 200_000}"))

    assert answer.status == 431
    assert world.provider.connections == 0


@pytest.mark.parametrize("length", ["Content-Length: 5000", "Transfer-Encoding: chunked"])
async def test_a_body_over_the_limit_is_refused_whether_it_says_its_length_or_not(
    world: World, length: str
) -> None:
    door = await world.proxy.open(replace(POLICY, limits=EgressLimits(request_bytes=1000)))
    body = b"x" * 5000
    if "chunked" in length:
        body = b"1388\r\n" + body + b"\r\n0\r\n\r\n"

    answer = await asked(door, request("POST", "/v1/messages", length) + body)

    assert answer.status == 413
    assert world.provider.connections == 0


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param(message(b"\x1f\x8b\x08", "Content-Encoding: gzip"), 415, id="compressed"),
        pytest.param(message(b'{"tools":[],"tools":[{"type":"web_search_1"}]}'), 400, id="field twice"),
        pytest.param(message('{"messages":[]}'.encode("utf-16")), 400, id="another encoding"),
        pytest.param(message(b"[" * 100_000), 400, id="nested without end"),
        pytest.param(message(b"[]"), 400, id="no object"),
        pytest.param(request("POST", "/v1/messages"), 400, id="empty"),
        pytest.param(request("GET", "/v1/models", body=b"{}"), 400, id="body of a GET"),
    ],
)
async def test_a_body_that_can_not_be_judged_is_refused(world: World, raw: bytes, status: int) -> None:
    door = await world.proxy.open(POLICY)

    answer = await asked(door, raw)

    assert answer.status == status
    assert world.provider.connections == 0


_REACHING = [
    (WireFormat.ANTHROPIC, '{"tools":[{"type":"web_search_20250305","name":"web_search"}]}'),
    (WireFormat.ANTHROPIC, '{"mcp_servers":[{"type":"url","url":"https://evil.example"}]}'),
    (
        WireFormat.ANTHROPIC,
        '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://x"}}]}]}',
    ),
    (WireFormat.OPENAI_RESPONSES, '{"tools":[{"type":"mcp","server_url":"https://evil.example"}]}'),
    (WireFormat.GEMINI, '{"tools":[{"url_context":{}}]}'),
]


@pytest.mark.parametrize(("wire", "body"), _REACHING, ids=lambda value: str(value)[:30])
async def test_a_body_that_asks_the_provider_to_reach_elsewhere_is_refused_unless_the_operator_allows_it(
    world: World, wire: WireFormat, body: str
) -> None:
    policy = replace(POLICY, api=replace(API, wire=wire))
    door = await world.proxy.open(policy)

    refused = await asked(door, message(body.encode()))
    await door.close()
    door = await world.proxy.open(replace(policy, allows_provider_tools=True))
    allowed = await asked(door, message(body.encode()))

    assert (refused.status, allowed.status) == (403, 200)
    assert b"provider-tools" in refused.body
    assert [each.body for each in world.provider.asked] == [body.encode()]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_neither_followed_nor_shown(world: World, status: str) -> None:
    door = await world.proxy.open(POLICY)
    world.provider.answers(json_answer(b"", status=status, headers=b"location: http://169.254.169.254/\r\n"))

    answer = await asked(door, message())

    assert answer.status == 502
    assert "location" not in answer.headers
    assert b"169.254" not in answer.body
    assert len(world.provider.asked) == 1


async def test_an_agent_without_a_provider_reaches_none(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, api=None, credential=None))

    answer = await asked(door, message())

    assert answer.status == 403
    assert world.network.looked_up == []
