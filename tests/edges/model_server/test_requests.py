"""What the server remembers, whom it answers, and by which words."""

import asyncio
import socket
import ssl
from pathlib import Path

import httpx
import pytest

from tests.edges.model_server.conftest import client_of
from tests.support.eventually import eventually
from tests.support.model_calls import CHAT, FORMATS, GEMINI, MESSAGES, Format
from tests.support.model_server import Authority, ModelServer, running_model_server
from tests.support.model_server.authority import make_authority

BY_NAME = [pytest.param(each, id=each.name) for each in FORMATS]


async def test_every_request_is_kept_as_it_came(client: httpx.AsyncClient, model_server: ModelServer) -> None:
    headers = [("X-Api-Key", "sk-real"), ("X-Twice", "one"), ("X-Twice", "two")]
    body = MESSAGES.ask("hello", (), False)

    await client.post("/v1/messages?beta=true", json=body, headers=headers)
    await client.put("/secret%2Fplace?x=1", content=b"\xff\x00")

    first, second = model_server.requests
    assert (first.method, first.path, first.query) == ("POST", "/v1/messages", "beta=true")
    assert (first.headers["x-api-key"], first.json, first.status) == ("sk-real", body, 200)
    assert [value for name, value in first.header_lines if name == "x-twice"] == ["one", "two"]
    assert (second.method, second.path, second.query) == ("PUT", "/secret%2Fplace", "x=1")
    assert (second.body, second.status, second.asked) == (b"\xff\x00", 404, None)
    assert list(model_server.model_calls) == [first]


async def test_what_was_asked_can_be_forgotten(client: httpx.AsyncClient, model_server: ModelServer) -> None:
    await client.get("/v1/models")

    model_server.forget()

    assert model_server.requests == []


async def test_a_request_whose_body_never_ends_is_kept_too(model_server: ModelServer) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", model_server.port)
    writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
    await writer.drain()
    await eventually(lambda: len(model_server.requests) == 1)

    writer.close()
    await writer.wait_closed()

    await eventually(lambda: model_server.requests[0].is_over)
    assert model_server.requests[0].status is None


@pytest.mark.parametrize("asked_in", BY_NAME)
async def test_only_the_right_key_is_answered(asked_in: Format) -> None:
    body = asked_in.ask("hello", (), False)
    async with running_model_server(credential="sk-real") as server, client_of(server) as client:
        right = await client.post(asked_in.path, json=body, headers=asked_in.headers("sk-real"))
        wrong = await client.post(asked_in.path, json=body, headers=asked_in.headers("placeholder"))
        none = await client.post(asked_in.path, json=body)

    assert [each.status_code for each in (right, wrong, none)] == [200, 401, 401]
    assert "key" in wrong.json()["error"]["message"]


async def test_a_gemini_key_may_stand_in_the_query() -> None:
    body = GEMINI.ask("hello", (), False)
    async with running_model_server(credential="sk-real") as server, client_of(server) as client:
        answer = await client.post(f"{GEMINI.path}?key=sk-real", json=body)

    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "member"),
    [
        pytest.param("GET", "/v1/models", {}, "object", id="openai's models"),
        pytest.param("GET", "/v1/models", {"anthropic-version": "2023-06-01"}, "has_more", id="anthropic's"),
        pytest.param("GET", "/v1/models/m-1", {}, "owned_by", id="one of openai's"),
        pytest.param(
            "GET", "/v1/models/m-1", {"anthropic-version": "x"}, "display_name", id="one of anthropic's"
        ),
        pytest.param("GET", "/v1beta/models", {}, "models", id="gemini's models"),
        pytest.param("GET", "/v1beta/models/m-1", {}, "inputTokenLimit", id="one of gemini's"),
        pytest.param("POST", "/v1/messages/count_tokens", {}, "input_tokens", id="anthropic's tokens"),
        pytest.param("POST", "/v1beta/models/m-1:countTokens", {}, "totalTokens", id="gemini's tokens"),
    ],
)
async def test_models_and_tokens_have_their_places(
    client: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], member: str
) -> None:
    answer = await client.request(method, path, headers=headers)

    assert answer.status_code == 200
    assert member in answer.json()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/messages"),
        ("POST", "/v1/models"),
        ("POST", "/v1/messages/"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/files"),
        ("POST", "/v1beta/models/m-1:delete"),
        ("POST", "/chat/completions"),
    ],
)
async def test_there_is_nothing_elsewhere(client: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, path)

    assert answer.status_code == 404
    assert path in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"hello"', b"\xff"])
async def test_a_body_that_is_no_question_is_a_bad_request(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post(MESSAGES.path, content=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_a_gateways_prefix_stands_in_front_of_every_path() -> None:
    body = CHAT.ask("hello", (), False)
    async with running_model_server(prefix="/api/eu") as server, client_of(server) as client:
        right = await client.post(f"{server.url}{CHAT.path}", json=body)
        wrong = await client.post(f"http://127.0.0.1:{server.port}{CHAT.path}", json=body)

    assert server.url.endswith("/api/eu")
    assert (right.status_code, wrong.status_code) == (200, 404)


async def test_tls_is_trusted_by_those_who_trust_the_authority(
    tls_model_server: ModelServer, model_authority: Authority
) -> None:
    trusting = httpx.AsyncClient(trust_env=False, verify=model_authority.client_context())
    strict = ssl.create_default_context(cafile=str(model_authority.authority_file))
    strict.verify_flags |= ssl.VERIFY_X509_STRICT

    async with trusting, httpx.AsyncClient(trust_env=False, verify=strict) as strictly:
        answer = await trusting.get(f"{tls_model_server.url}/v1/models")
        by_name = await strictly.get(f"https://localhost:{tls_model_server.port}/v1/models")

    assert tls_model_server.url.startswith("https://127.0.0.1:")
    assert (answer.status_code, by_name.status_code) == (200, 200)


async def test_tls_is_refused_by_everybody_else(tls_model_server: ModelServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(f"{tls_model_server.url}/v1/models")


async def test_a_certificate_is_for_its_names_only(tmp_path: Path) -> None:
    authority = make_authority(tmp_path, names=["api.example.test"])
    async with running_model_server(authority=authority) as server:
        _, writer = await asyncio.open_connection(
            "127.0.0.1", server.port, ssl=authority.client_context(), server_hostname="api.example.test"
        )
        writer.close()
        await writer.wait_closed()

        with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
            await asyncio.open_connection("127.0.0.1", server.port, ssl=authority.client_context())


async def test_its_port_is_free_again_at_once() -> None:
    async with running_model_server() as server:
        pass

    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", server.port))
