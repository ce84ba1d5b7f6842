"""What an agent's calls to its provider look like on both sides of the proxy."""

import asyncio
import json
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from orchestrator.contracts.records.egress import EgressLimits, ProviderFailure
from orchestrator.contracts.records.providers import WireFormat
from tests.edges.egress.conftest import World
from tests.support.egress_world import (
    API,
    CANARY,
    POLICY,
    POLICY_OF_ANOTHER,
    asked,
    connect,
    message,
    parsed,
    read_all,
    request,
    sent,
)
from tests.support.eventually import eventually
from tests.support.scripted_upstream import Asked, json_answer, stream_head


async def test_a_call_goes_to_the_providers_base_with_the_credential_that_the_agent_never_sees(
    world: World,
) -> None:
    door = await world.proxy.open(POLICY)
    world.provider.answers(json_answer(b'{"model":"m","usage":{"input_tokens":3,"output_tokens":4}}'))

    with capture_logs() as logs:
        answer = await asked(door, message(b'{"model":"m","messages":[]}', "anthropic-version: 2023-06-01"))

    assert answer.status == 200
    [got] = world.provider.asked
    assert (got.method, got.target) == ("POST", "/base/v1/messages")
    assert got.header("host") == "api.provider.test"
    assert got.header("x-api-key") == CANARY
    assert got.header("anthropic-version") == "2023-06-01"
    assert got.body == b'{"model":"m","messages":[]}'
    assert CANARY not in f"{answer}{logs}{world.use.calls}"
    [call] = world.use.calls
    assert (call.input_tokens, call.output_tokens, call.model, call.status) == (3, 4, "m", 200)
    assert (call.path, call.provider_host, call.failure) == ("/v1/messages", "api.provider.test", None)
    assert [entry["path"] for entry in logs if entry["event"] == "egress.called"] == ["/v1/messages"]


async def test_nothing_with_which_the_agent_could_pay_or_pose_reaches_the_provider(world: World) -> None:
    door = await world.proxy.open(POLICY)
    theirs = [
        "Authorization: Bearer sk-theirs", "X-Api-Key: sk-theirs", "X-Goog-Api-Key: sk-theirs",
        "api-key: sk-theirs", "Cookie: sk-theirs", "Proxy-Authorization: sk-theirs", "Via: theirs",
        "X-Forwarded-For: theirs", "X-Http-Method-Override: DELETE", "OpenAI-Organization: theirs",
        "Connection: x-hop", "X-Hop: theirs",
    ]  # fmt: skip

    answer = await asked(
        door, request("GET", "/v1/models?key=sk-theirs&limit=5&access%5Ftoken=sk-theirs", *theirs)
    )

    assert answer.status == 200
    [got] = world.provider.asked
    assert got.target == "/base/v1/models?limit=5"
    assert "theirs" not in str(got)
    assert "DELETE" not in str(got)
    assert got.header("x-api-key") == CANARY


async def test_a_stream_reaches_the_agent_while_the_provider_still_speaks(world: World) -> None:
    door = await world.proxy.open(POLICY)
    may_end = asyncio.Event()

    async def speak(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + b'data: {"type":"message_start","message":{"model":"m-1","usage":')
        writer.write(b'{"input_tokens":7,"cache_read_input_tokens":90,"output_tokens":1}}}\n\n')
        await may_end.wait()
        writer.write(b'data: {"type":"message_delta","usage":{"output_tokens":12}}\r\n\r\n')

    world.provider.answer = speak
    reader, writer = await connect(door)
    writer.write(message())

    async with asyncio.timeout(30):
        first = await reader.readuntil(b"}}}\n\n")
        may_end.set()
        rest = await read_all(reader)
    writer.close()

    assert parsed(first + rest).body.endswith(b'{"output_tokens":12}}\r\n\r\n')
    [call] = world.use.calls
    assert (call.model, call.input_tokens, call.cache_read_tokens, call.output_tokens) == ("m-1", 7, 90, 12)


async def test_a_slow_agent_slows_its_provider_down(world: World) -> None:
    door = await world.proxy.open(POLICY)
    written = 0
    whole = 64 * 1024**2

    async def flood(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(stream_head())
        while written < whole:
            writer.write(b"x" * 65_536)
            await writer.drain()
            written += 65_536

    world.provider.answer = flood
    reader, writer = await connect(door)
    writer.write(message())
    await reader.readexactly(1)

    # Once nothing moves any more, all that is under way lies in buffers, which are small.
    last = -1
    while written != last:
        last = written
        for _ in range(200):
            await asyncio.sleep(0)
    under_way = written
    writer.transport.abort()

    assert 0 < under_way < whole // 2
    await eventually(lambda: len(world.use.calls) == 1)


async def test_an_agent_that_hangs_up_ends_its_call_which_is_counted_all_the_same(world: World) -> None:
    door = await world.proxy.open(POLICY)
    hung_up = asyncio.Event()

    async def wait_for_the_end(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        try:
            await writer.wait_closed()
        finally:
            hung_up.set()

    world.provider.answer = wait_for_the_end
    _, writer = await connect(door)
    writer.write(message())
    await eventually(lambda: world.provider.asked)

    writer.transport.abort()

    await eventually(lambda: world.use.calls)
    assert world.use.calls[0].failure == ProviderFailure.AGENT_LEFT
    await asyncio.wait_for(hung_up.wait(), 30)
    assert door.last_failure is None


async def test_a_spent_budget_refuses_the_call_with_its_sentence_and_asks_nobody(world: World) -> None:
    door = await world.proxy.open(POLICY)
    world.use.reason = "The budget of this group is spent until tomorrow."

    answer = await asked(door, message())

    assert answer.status == 402
    error = json.loads(answer.body)["error"]
    assert error["type"] == "billing_error"
    assert world.use.reason in error["message"]
    assert answer.headers["x-should-retry"] == "false"
    assert world.provider.asked == []
    assert world.use.calls == []


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        ("401 Unauthorized", ProviderFailure.CREDENTIAL_REFUSED),
        ("429 Too Many Requests", ProviderFailure.RATE_LIMITED),
        ("500 Internal Server Error", ProviderFailure.BROKEN),
        ("529 Overloaded", ProviderFailure.OVERLOADED),
    ],
)
async def test_a_providers_error_is_passed_on_and_remembered_until_it_answers_again(
    world: World, status: str, failure: ProviderFailure
) -> None:
    door = await world.proxy.open(POLICY)
    body = b'{"type":"error","error":{"type":"theirs"}}'
    world.provider.answers(json_answer(body, status=status, headers=b"retry-after: 7\r\n"))

    answer = await asked(door, message())

    assert (answer.status, answer.body) == (int(status[:3]), body)
    assert answer.headers["retry-after"] == "7"
    assert door.last_failure is not None
    assert (door.last_failure.failure, door.last_failure.status) == (failure, int(status[:3]))
    world.provider.answers(json_answer(b"{}"))
    await asked(door, message())
    assert door.last_failure is None


async def test_an_answer_that_is_cut_is_cut_for_the_agent_too(world: World) -> None:
    door = await world.proxy.open(POLICY)
    world.provider.answers(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\ndata: "
    )

    answer = await asked(door, message())

    assert (answer.status, answer.body, answer.is_whole) == (200, b"data: ", False)
    await eventually(lambda: door.last_failure is not None)
    assert world.use.calls[0].failure == ProviderFailure.CUT


async def test_a_provider_that_hangs_up_at_once_can_not_be_reached_or_is_not_trusted_is_a_bad_gateway(
    world: World,
) -> None:
    door = await world.proxy.open(POLICY)
    untrusted = await world.proxy.open(
        replace(POLICY_OF_ANOTHER, api=replace(API, base="https://localhost.test"))
    )
    world.network.names["localhost.test"] = world.network.names["api.provider.test"]
    world.provider.answers(b"")

    hung_up = await asked(door, message())
    stranger = await asked(untrusted, message())
    world.network.ports.clear()
    gone = await asked(door, message())

    assert [answer.status for answer in (hung_up, stranger, gone)] == [502, 502, 502]
    assert json.loads(gone.body)["error"]["type"] == "api_error"
    failures = [call.failure for call in world.use.calls]
    assert failures == [ProviderFailure.CUT, ProviderFailure.UNREACHABLE, ProviderFailure.UNREACHABLE]


async def test_a_provider_that_does_not_answer_in_time_is_a_gateway_timeout(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, limits=EgressLimits(answer_s=0.5)))

    async def stay_silent(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        await writer.wait_closed()

    world.provider.answer = stay_silent

    answer = await asked(door, message())

    assert answer.status == 504
    assert world.use.calls[0].failure == ProviderFailure.TOO_SLOW


async def test_a_stream_in_the_chat_format_is_asked_for_its_use(world: World) -> None:
    api = replace(API, wire=WireFormat.OPENAI_CHAT)
    door = await world.proxy.open(replace(POLICY, api=api))
    stream = b'data: {"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
    world.provider.answers(stream_head() + stream)

    answer = await asked(door, message(b'{"model":"m","stream":true,"messages":[]}'))

    assert answer.body == stream
    assert json.loads(world.provider.asked[0].body)["stream_options"] == {"include_usage": True}
    assert (world.use.calls[0].input_tokens, world.use.calls[0].output_tokens) == (9, 2)


async def test_calls_on_one_connection_are_answered_in_their_order_pipelined_ones_too(world: World) -> None:
    door = await world.proxy.open(POLICY)
    first = message(b'{"n":1}').replace(b"Connection: close\r\n", b"")
    second = message(b'{"n":2}')

    came = await sent(door, first + second)

    assert came.count(b"HTTP/1.1 200") == 2
    assert [each.body for each in world.provider.asked] == [b'{"n":1}', b'{"n":2}']


async def test_a_local_upstream_is_reached_without_tls_only_where_the_operator_names_it(world: World) -> None:
    local = replace(API, base=f"http://127.0.0.1:{world.provider.port}", is_named_by_operator=True)
    door = await world.proxy.open(replace(POLICY, api=local))

    answer = await asked(door, message())

    assert answer.status == 502  # the test's provider speaks TLS: that it was dialled is what counts
    assert world.network.dialled == [("127.0.0.1", world.provider.port)]
