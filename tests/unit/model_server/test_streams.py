"""A stream, put together by its client, is the answer in one piece."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.model_answers.put import Put
from tests.support.model_calls import FORMATS, Format, events
from tests.support.model_server.answering import pieces_of
from tests.support.model_server.asked import OfferedTool
from tests.support.model_server.routes import Generate, route
from tests.support.model_server.script import CallTool, Say, Stop, Think, Usage
from tests.support.model_server.wires.wire import Writer

STOPS = {
    "anthropic messages": {"end": "end_turn", "max_tokens": "max_tokens", "refusal": "refusal"},
    "openai chat completions": {"end": "stop", "max_tokens": "length", "refusal": "content_filter"},
    "openai responses": {
        "end": "completed",
        "max_tokens": "max_output_tokens",
        "refusal": "content_filter",
    },
    "gemini": {"end": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"},
}
STOP_FOR_A_TOOL = {"anthropic messages": "tool_use", "openai chat completions": "tool_calls"}

ARGUMENTS = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=9), st.integers(), st.none()))
STEPS = st.lists(
    st.one_of(
        st.builds(Say, text=st.text(max_size=40), pieces=st.integers(1, 5)),
        st.builds(Think, text=st.text(max_size=20)),
        st.builds(CallTool, tool=st.just("add"), arguments=ARGUMENTS),
    ),
    max_size=6,
)
USAGES = st.builds(
    Usage,
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cache_read_tokens=st.integers(0, 10**6),
)


def writer_for(asked_in: Format, usage: Usage) -> Writer:
    """As the server makes it for a stream."""
    path, _, query = asked_in.stream_path.partition("?")
    found = route("POST", path, query, {})
    assert isinstance(found, Generate)
    return found.wire.writer(found.wire.read(asked_in.ask("hello", ["add"], True)), usage)


def write(writer: Writer, steps: list[Say | Think | CallTool], stop: Stop) -> Iterator[bytes]:
    """The events of an answer with these steps."""
    yield from writer.begin()
    for step in steps:
        match step:
            case Say():
                for piece in pieces_of(step.text, step.pieces):
                    yield from writer.say(piece)
            case Think():
                yield from writer.think(step.text)
            case CallTool():
                yield from writer.call(OfferedTool(name=step.tool), step.arguments)
    yield from writer.end(stop)


def expected(asked_in: Format, steps: list[Any], stop: Stop, usage: Usage) -> Put:
    """What a client of this format must read, by the API references."""
    calls = tuple((each.tool, dict(each.arguments)) for each in steps if isinstance(each, CallTool))
    words = STOPS[asked_in.name]
    return Put(
        text="".join(each.text for each in steps if isinstance(each, Say)),
        thought="".join(each.text for each in steps if isinstance(each, Think)),
        calls=calls,
        stop=STOP_FOR_A_TOOL.get(asked_in.name, words[stop]) if calls else words[stop],
        tokens=(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
    )


@pytest.mark.parametrize("asked_in", [pytest.param(each, id=each.name) for each in FORMATS])
@given(steps=STEPS, stop=st.sampled_from(Stop), usage=USAGES)
def test_a_stream_put_together_is_the_answer_in_one_piece(
    asked_in: Format, steps: list[Say | Think | CallTool], stop: Stop, usage: Usage
) -> None:
    writer = writer_for(asked_in, usage)

    streamed = asked_in.streamed(events(b"".join(write(writer, steps, stop)).decode()))

    assert streamed == expected(asked_in, steps, stop, usage)
    assert asked_in.whole(writer.whole(stop)) == streamed
