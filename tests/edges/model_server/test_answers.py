"""Answers over a connection: scripts, streams, and errors in each provider's shape."""

from typing import Any

import httpx
import pytest

from tests.support.model_calls import CHAT, FORMATS, GEMINI, MESSAGES, RESPONSES, Format, events
from tests.support.model_server import Answer, CallTool, Fail, ModelServer, Rule, Say, Think, Usage

BY_NAME = [pytest.param(each, id=each.name) for each in FORMATS]
WHOLE_OR_STREAM = pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])


async def ask(
    client: httpx.AsyncClient,
    asked_in: Format,
    text: str,
    *,
    tools: tuple[str, ...] = (),
    is_stream: bool = False,
) -> httpx.Response:
    """One question."""
    body = asked_in.ask(text, tools, is_stream)
    return await client.post(asked_in.path_for(is_stream), json=body)


@WHOLE_OR_STREAM
@pytest.mark.parametrize("asked_in", BY_NAME)
async def test_a_script_is_answered_the_same_in_every_format(
    client: httpx.AsyncClient, model_server: ModelServer, asked_in: Format, is_stream: bool
) -> None:
    steps = (
        Think(text="Hm."),
        Say(text="I will add.", pieces=3),
        CallTool(tool="lab_add", arguments={"a": 2, "b": "é"}),
    )
    usage = Usage(input_tokens=70, output_tokens=5, cache_read_tokens=900)
    model_server.play(Rule(text="add", steps=steps, usage=usage))

    answer = await ask(client, asked_in, "please add", tools=("mcp__lab__add", "sub"), is_stream=is_stream)

    assert answer.status_code == 200
    put = asked_in.streamed(events(answer.text)) if is_stream else asked_in.whole(answer.json())
    assert (put.thought, put.text) == ("Hm.", "I will add.")
    assert put.calls == (("mcp__lab__add", {"a": 2, "b": "é"}),)
    assert put.tokens == (70, 5, 900)


@pytest.mark.parametrize("asked_in", BY_NAME)
async def test_without_a_script_it_echoes_what_was_said_and_what_a_tool_said(
    client: httpx.AsyncClient, asked_in: Format
) -> None:
    first = await ask(client, asked_in, "hello")
    second = await client.post(asked_in.path, json=asked_in.after_tool("hello", "four"))

    assert asked_in.whole(first.json()).text == "echo: hello"
    said = asked_in.whole(second.json()).text
    assert said.startswith("tool said: ")
    assert "four" in said


async def test_a_gemini_stream_without_events_is_one_array(client: httpx.AsyncClient) -> None:
    path = "/v1beta/models/m-1:streamGenerateContent"

    answer = await client.post(path, json=GEMINI.ask("hello", (), True))

    assert answer.headers["content-type"] == "application/json; charset=UTF-8"
    assert GEMINI.streamed(answer.json()).text == "echo: hello"


async def test_chat_usage_is_streamed_only_to_those_who_ask(client: httpx.AsyncClient) -> None:
    body = CHAT.ask("hello", (), True) | {"stream_options": None}

    answer = await client.post(CHAT.path, json=body)

    assert all("usage" not in each for each in events(answer.text))
    assert answer.text.endswith("data: [DONE]\n\n")


ERRORS: list[tuple[Format, int, dict[str, Any]]] = [
    (MESSAGES, 400, {"type": "invalid_request_error"}),
    (MESSAGES, 401, {"type": "authentication_error"}),
    (MESSAGES, 429, {"type": "rate_limit_error"}),
    (MESSAGES, 500, {"type": "api_error"}),
    (MESSAGES, 529, {"type": "overloaded_error"}),
    (CHAT, 400, {"type": "invalid_request_error", "code": None}),
    (CHAT, 401, {"type": "invalid_request_error", "code": "invalid_api_key"}),
    (CHAT, 429, {"type": "requests", "code": "rate_limit_exceeded"}),
    (CHAT, 500, {"type": "server_error"}),
    (CHAT, 503, {"type": "service_unavailable_error"}),
    (RESPONSES, 429, {"code": "rate_limit_exceeded"}),
    (RESPONSES, 500, {"type": "server_error"}),
    (GEMINI, 400, {"code": 400, "status": "INVALID_ARGUMENT"}),
    (GEMINI, 401, {"code": 401, "status": "UNAUTHENTICATED"}),
    (GEMINI, 429, {"code": 429, "status": "RESOURCE_EXHAUSTED"}),
    (GEMINI, 500, {"code": 500, "status": "INTERNAL"}),
    (GEMINI, 503, {"code": 503, "status": "UNAVAILABLE"}),
]


@pytest.mark.parametrize(
    ("asked_in", "status", "expected"),
    [pytest.param(*each, id=f"{each[0].name} {each[1]}") for each in ERRORS],
)
@WHOLE_OR_STREAM
async def test_an_error_has_the_providers_shape(
    client: httpx.AsyncClient,
    model_server: ModelServer,
    asked_in: Format,
    status: int,
    expected: dict[str, Any],
    is_stream: bool,
) -> None:
    model_server.play(Rule(steps=(Fail(status=status, message="So it is."),)))

    answer = await ask(client, asked_in, "hello", is_stream=is_stream)

    error = answer.json()["error"]
    assert answer.status_code == status
    assert error["message"] == "So it is."
    assert {name: error[name] for name in expected} == expected


@pytest.mark.parametrize("asked_in", [MESSAGES, CHAT, RESPONSES], ids=lambda each: each.name)
async def test_a_limit_says_when_to_try_again_in_the_header(
    client: httpx.AsyncClient, model_server: ModelServer, asked_in: Format
) -> None:
    model_server.play(Rule(steps=(Fail(status=429, retry_after_s=7),), times=1))

    limited = await ask(client, asked_in, "hello")
    after = await ask(client, asked_in, "hello")

    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
    assert after.status_code == 200


async def test_gemini_says_when_to_try_again_in_the_body(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(Fail(status=429, retry_after_s=7),)))

    (detail,) = (await ask(client, GEMINI, "hello")).json()["error"]["details"]

    assert detail == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}


@pytest.mark.parametrize(
    ("asked_in", "member", "said"),
    [
        pytest.param(MESSAGES, "message", "prompt is too long", id="anthropic"),
        pytest.param(CHAT, "code", "context_length_exceeded", id="openai"),
        pytest.param(GEMINI, "message", "exceeds the maximum number of tokens", id="gemini"),
    ],
)
async def test_a_conversation_that_is_too_long_is_refused_in_the_providers_words(
    client: httpx.AsyncClient, model_server: ModelServer, asked_in: Format, member: str, said: str
) -> None:
    model_server.play(Rule(steps=(Fail(is_context_overflow=True),)))

    answer = await ask(client, asked_in, "hello", is_stream=True)

    assert answer.status_code == 400
    assert said in answer.json()["error"][member]


async def test_responses_says_that_it_is_too_long_in_the_stream(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(Fail(is_context_overflow=True),)))

    whole = await ask(client, RESPONSES, "hello")
    streamed = await ask(client, RESPONSES, "hello", is_stream=True)

    assert (whole.status_code, whole.json()["error"]["code"]) == (400, "context_length_exceeded")
    last = events(streamed.text)[-1]
    assert (streamed.status_code, last["type"]) == (200, "response.failed")
    assert last["response"]["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize(
    ("asked_in", "path_to_message"),
    [
        pytest.param(MESSAGES, ("error", "message"), id="anthropic"),
        pytest.param(CHAT, ("error", "message"), id="chat"),
        pytest.param(RESPONSES, ("response", "error", "message"), id="responses"),
        pytest.param(GEMINI, ("error", "message"), id="gemini"),
    ],
)
async def test_an_error_in_the_middle_is_the_last_event_of_the_stream(
    client: httpx.AsyncClient, model_server: ModelServer, asked_in: Format, path_to_message: tuple[str, ...]
) -> None:
    model_server.play(Rule(steps=(Say(text="half"), Fail(status=529, message="Too busy."))))

    answer = await ask(client, asked_in, "hello", is_stream=True)

    found: Any = events(answer.text)[-1]
    for member in path_to_message:
        found = found[member]
    assert (answer.status_code, found) == (200, "Too busy.")


async def test_a_script_that_calls_a_tool_nobody_offers_says_which_there_are(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(CallTool(tool="multiply"),)))

    answer = await ask(client, MESSAGES, "hello", tools=("add", "sub"))

    assert answer.status_code == 400
    assert "'multiply'" in answer.json()["error"]["message"]
    assert "add, sub" in answer.json()["error"]["message"]


async def test_an_answer_can_be_no_models(client: httpx.AsyncClient, model_server: ModelServer) -> None:
    away = Answer(status=307, headers={"location": "http://169.254.1.1/"}, body="Elsewhere.")
    pieces = Answer(body="Hi.", pieces=3)
    model_server.play(Rule(path="/v1/messages", steps=(away,)), Rule(path="/page", steps=(pieces,)))

    moved = await ask(client, MESSAGES, "hello")
    page = await client.get("/page")

    assert (moved.status_code, moved.headers["location"]) == (307, "http://169.254.1.1/")
    assert (page.status_code, page.text) == (200, "Hi.")
    assert moved.headers["content-length"] == "10"
    assert page.headers["transfer-encoding"] == "chunked"
