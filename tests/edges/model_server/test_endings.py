"""Answers that wait, hang or break off."""

import asyncio
import contextlib

import h11
import httpx
import pytest

from tests.edges.model_server.conftest import client_of
from tests.support.eventually import eventually
from tests.support.model_calls import FORMATS, MESSAGES, Format, events
from tests.support.model_server import (
    Answer,
    Cut,
    Hang,
    ModelServer,
    Pause,
    Rule,
    Say,
    Wait,
    running_model_server,
)
from tests.support.model_server.script import Step

BY_NAME = [pytest.param(each, id=each.name) for each in FORMATS]


async def test_an_answer_stands_at_its_gate_until_the_test_opens_it(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(Say(text="first "), Wait(gate="half"), Say(text="second"))))
    body = MESSAGES.ask("hello", (), True)
    seen = ""

    async with client.stream("POST", MESSAGES.path, json=body) as answer:
        async for line in answer.aiter_lines():
            seen += f"{line}\n"
            if "first " in line:
                await model_server.gate("half").reached()
                assert "second" not in seen
                model_server.gate("half").open()

    assert MESSAGES.streamed(events(seen)).text == "first second"


async def test_pauses_lose_nothing(client: httpx.AsyncClient, model_server: ModelServer) -> None:
    steps = (Pause(seconds=0.01), Say(text="slowly", pieces=3, pause_s=0.01))
    model_server.play(Rule(steps=steps))

    answer = await client.post(MESSAGES.path, json=MESSAGES.ask("hello", (), True))

    assert MESSAGES.streamed(events(answer.text)).text == "slowly"


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("asked_in", BY_NAME)
async def test_a_cut_answer_begins_and_never_ends(
    client: httpx.AsyncClient, model_server: ModelServer, asked_in: Format, is_stream: bool
) -> None:
    model_server.play(Rule(steps=(Say(text="one two", pieces=2), Cut())))
    body = asked_in.ask("hello", (), is_stream)
    seen = b""

    async def read() -> None:
        nonlocal seen
        async with client.stream("POST", asked_in.path_for(is_stream), json=body) as answer:
            assert answer.status_code == 200
            async for part in answer.aiter_bytes():
                seen += part

    with pytest.raises(httpx.RemoteProtocolError):
        await read()
    assert seen
    assert not is_stream or (b"one" in seen and b" two" in seen)


async def test_a_cut_in_an_event_leaves_half_of_it(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(Say(text="whole"), Cut(in_event=True))))
    seen = b""

    async def read() -> None:
        nonlocal seen
        async with client.stream("POST", MESSAGES.path, json=MESSAGES.ask("hello", (), True)) as answer:
            async for part in answer.aiter_bytes():
                seen += part

    with pytest.raises(httpx.RemoteProtocolError):
        await read()
    assert seen.splitlines()[-1].startswith(b"data: {")
    assert not seen.endswith((b"}", b"\n"))


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_a_cut_as_the_first_step_is_no_answer_at_all(
    client: httpx.AsyncClient, model_server: ModelServer, is_stream: bool
) -> None:
    model_server.play(Rule(steps=(Cut(),), times=1))
    body = MESSAGES.ask("hello", (), is_stream)

    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        await client.post(MESSAGES.path, json=body)

    assert model_server.requests[0].status is None
    assert (await client.post(MESSAGES.path, json=body)).status_code == 200


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        pytest.param((Say(text="and then"), Hang()), 200, id="in the middle"),
        pytest.param((Hang(),), None, id="before it begins"),
        pytest.param((Wait(gate="never"), Say(text="late")), None, id="at a gate"),
    ],
)
async def test_a_hanging_answer_ends_when_its_client_goes(
    client: httpx.AsyncClient, model_server: ModelServer, steps: tuple[Step, ...], status: int | None
) -> None:
    model_server.play(Rule(steps=steps))
    body = MESSAGES.ask("hello", (), True)

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.post(MESSAGES.path, json=body))
        await eventually(lambda: model_server.model_calls and model_server.requests[0].status == status)
        assert not model_server.requests[0].is_over
        asking.cancel()
        await eventually(lambda: model_server.requests[0].is_over)

    assert model_server.requests[0].status == status


@pytest.mark.parametrize(
    "step", [Hang(), Wait(gate="never"), Pause(seconds=3_600)], ids=lambda each: each.step
)
async def test_an_answer_that_is_under_way_does_not_keep_the_server_open(step: Hang | Wait | Pause) -> None:
    async with asyncio.TaskGroup() as tasks, running_model_server() as server:
        server.play(Rule(steps=(Say(text="and then"), step)))
        asking = tasks.create_task(_post_and_lose(server))
        await eventually(lambda: len(server.model_calls) == 1)
        assert not asking.done()

    assert server.requests[0].is_over


async def test_all_connections_can_be_dropped_at_once(
    client: httpx.AsyncClient, model_server: ModelServer
) -> None:
    model_server.play(Rule(steps=(Hang(),), times=1))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_post_and_lose(model_server))
        await eventually(lambda: len(model_server.model_calls) == 1)

        model_server.drop_connections()

    answer = await client.post(MESSAGES.path, json=MESSAGES.ask("again", (), False))
    assert MESSAGES.whole(answer.json()).text == "echo: again"


async def _post_and_lose(server: ModelServer) -> None:
    async with client_of(server) as client:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await client.post(MESSAGES.path, json=MESSAGES.ask("hello", (), True))


async def test_a_failure_in_the_block_is_raised_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with running_model_server():
            raise ZeroDivisionError


async def test_a_fault_of_the_server_itself_is_not_taken_for_an_answer() -> None:
    no_header = Answer(headers={"x": "two\nlines"})

    with pytest.RaisesGroup(h11.LocalProtocolError):
        async with running_model_server() as server, client_of(server) as client:
            server.play(Rule(path="/page", steps=(no_header,)))
            with contextlib.suppress(httpx.RemoteProtocolError):
                await client.get("/page")
