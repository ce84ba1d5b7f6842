"""What answers say of their use, in every format and however their bytes are cut."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.egress import ProviderFailure
from orchestrator.contracts.records.providers import WireFormat
from orchestrator.core.sandbox.provider_errors import error_body, failure_of
from orchestrator.core.sandbox.usage_reading import Usage, UsageReader


def _stream(*events: Any) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)


_ANTHROPIC = _stream(
    {"type": "message_start", "message": {"model": "claude", "usage": {
        "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30,
        "output_tokens": 1}}},
    {"type": "content_block_delta", "delta": {"text": "the usage of error"}},
    {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 40}},
    {"type": "message_stop"},
)  # fmt: skip
_CHAT = _stream(
    {"model": "gpt", "choices": [{"delta": {"content": "hi"}}], "usage": None},
    {"model": "gpt", "choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}},
) + b"data: [DONE]\n\n"  # fmt: skip
_RESPONSES = _stream(
    {"type": "response.created", "response": {"model": "gpt", "usage": None}},
    {"type": "response.completed", "response": {"model": "gpt", "usage": {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7}}},
)  # fmt: skip
_GEMINI = _stream(
    {"candidates": [], "modelVersion": "gemini", "usageMetadata": {"promptTokenCount": 100}},
    {"modelVersion": "gemini", "usageMetadata": {
        "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3}},
)  # fmt: skip
_OF_STREAMS = [
    (WireFormat.ANTHROPIC, _ANTHROPIC, Usage(
        model="claude", input_tokens=10, output_tokens=40, cache_read_tokens=30, cache_write_tokens=20)),
    (WireFormat.OPENAI_CHAT, _CHAT, Usage(
        model="gpt", input_tokens=40, output_tokens=7, cache_read_tokens=60)),
    (WireFormat.OPENAI_RESPONSES, _RESPONSES, Usage(
        model="gpt", input_tokens=40, output_tokens=7, cache_read_tokens=60)),
    (WireFormat.GEMINI, _GEMINI, Usage(
        model="gemini", input_tokens=40, output_tokens=7, cache_read_tokens=60)),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "stream", "usage"), _OF_STREAMS, ids=[str(row[0]) for row in _OF_STREAMS])
@given(cuts=st.sets(st.integers(min_value=0, max_value=700)), ending=st.sampled_from([b"\n", b"\r\n"]))
def test_a_streams_use_is_read_however_it_is_cut(
    wire: WireFormat, stream: bytes, usage: Usage, cuts: set[int], ending: bytes
) -> None:
    reader = UsageReader(wire, is_stream=True)
    written = stream.replace(b"\n", ending)
    edges = [0, *sorted(cuts), len(written)]

    for begin, end in pairwise(edges):
        reader.feed(written[begin:end])
    reader.end()

    assert reader.usage == usage
    assert not reader.has_error


@pytest.mark.parametrize(
    ("wire", "answer", "usage"),
    [
        (WireFormat.ANTHROPIC, {"model": "c", "usage": {"input_tokens": 3, "output_tokens": 4}},
         Usage(model="c", input_tokens=3, output_tokens=4)),
        (WireFormat.ANTHROPIC, {"input_tokens": 3}, Usage()),
        (WireFormat.ANTHROPIC, {"usage": {"input_tokens": -3, "output_tokens": True}}, Usage()),
        (WireFormat.GEMINI, [{"usageMetadata": {}}, {"usageMetadata": {"promptTokenCount": 9}}],
         Usage(input_tokens=9)),
        (WireFormat.OPENAI_CHAT, {"usage": {"prompt_tokens": 5, "completion_tokens": 6}},
         Usage(input_tokens=5, output_tokens=6)),
    ],
)  # fmt: skip
def test_a_whole_answers_use_is_read(wire: WireFormat, answer: object, usage: Usage) -> None:
    reader = UsageReader(wire, is_stream=False)

    for byte in json.dumps(answer).encode():
        reader.feed(bytes([byte]))
    reader.end()

    assert reader.usage == usage


@given(wire=st.sampled_from(WireFormat), is_stream=st.booleans(), chunks=st.lists(st.binary()))
def test_no_bytes_upset_the_reader(wire: WireFormat, is_stream: bool, chunks: list[bytes]) -> None:
    reader = UsageReader(wire, is_stream=is_stream)

    for chunk in chunks:
        reader.feed(chunk)
    reader.end()

    assert isinstance(reader.usage, Usage)


def test_what_follows_a_line_without_end_is_read_again() -> None:
    reader = UsageReader(WireFormat.ANTHROPIC, is_stream=True)

    reader.feed(b"data: " + b"x" * 9_000_000)
    reader.feed(b"usage\n\n" + _ANTHROPIC)
    reader.end()

    assert reader.usage.output_tokens == 40


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        (WireFormat.ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error"}}),
        (WireFormat.OPENAI_CHAT, {"error": {"message": "x"}}),
        (WireFormat.OPENAI_RESPONSES, {"type": "response.failed", "response": {}}),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_seen(wire: WireFormat, event: dict[str, Any]) -> None:
    reader = UsageReader(wire, is_stream=True)

    reader.feed(_stream({"choices": []}, event))

    assert reader.has_error


@pytest.mark.parametrize(
    ("wire", "shape"),
    [
        (WireFormat.ANTHROPIC, {
            "type": "error", "error": {"type": "permission_error", "message": "Dovecote: no"}}),
        (WireFormat.GEMINI, {"error": {
            "code": 403, "message": "Dovecote: no", "status": "PERMISSION_DENIED"}}),
        (WireFormat.OPENAI_CHAT, {"error": {
            "message": "Dovecote: no", "type": "dovecote_egress", "param": None, "code": "dovecote_egress"}}),
    ],
)  # fmt: skip
def test_a_refusal_has_the_shape_of_the_providers_errors(wire: WireFormat, shape: dict[str, Any]) -> None:
    assert json.loads(error_body(wire, 403, "no")) == shape


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (200, None), (304, None), (400, None), (404, None), (413, None),
        (401, ProviderFailure.CREDENTIAL_REFUSED), (403, ProviderFailure.CREDENTIAL_REFUSED),
        (402, ProviderFailure.UNPAID), (429, ProviderFailure.RATE_LIMITED), (500, ProviderFailure.BROKEN),
        (302, ProviderFailure.BROKEN), (503, ProviderFailure.OVERLOADED), (529, ProviderFailure.OVERLOADED),
        (504, ProviderFailure.TOO_SLOW),
    ],
)  # fmt: skip
def test_a_status_says_whether_the_provider_failed(status: int, failure: ProviderFailure | None) -> None:
    assert failure_of(status) is failure
