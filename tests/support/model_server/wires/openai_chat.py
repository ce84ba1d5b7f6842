"""OpenAI Chat Completions: `POST /v1/chat/completions`. Source: the API reference, "Chat"."""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.support.model_server.asked import (
    Asked,
    OfferedTool,
    Said,
    member,
    since_the_model_spoke,
    text_of,
)
from tests.support.model_server.script import Fail, Stop, Usage
from tests.support.model_server.wires import openai_errors
from tests.support.model_server.wires.wire import Problem, bearer, compact, in_two, sse

_STOPS: Final = {Stop.END: "stop", Stop.MAX_TOKENS: "length", Stop.REFUSAL: "content_filter"}
_DONE: Final = b"data: [DONE]\n\n"
_CREATED: Final = 1_764_288_000


class OpenAiChat:
    """The wire format that most compatible servers speak."""

    stream_type = "text/event-stream; charset=utf-8"
    streams_overflow = False

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request asks; raises Malformed."""
        news = since_the_model_spoke(_conversation(member(body, "messages", list)))
        return Asked(
            model=member(body, "model", str),
            is_stream=body.get("stream") is True,
            texts=news.texts,
            prompt=news.prompt,
            tool_results=news.tool_results,
            tools=tuple(OfferedTool(name=tool["function"]["name"]) for tool in body.get("tools") or ()),
            wants_usage=(body.get("stream_options") or {}).get("include_usage") is True,
        )

    def writer(self, asked: Asked, usage: Usage) -> "OpenAiChatWriter":
        """For one answer that costs this."""
        return OpenAiChatWriter(asked, usage)

    def problem(self, fail: Fail) -> Problem:
        """An error before anything was answered."""
        return openai_errors.problem(fail)

    def credential(self, headers: Mapping[str, str], query: str) -> str | None:
        """The key that a request brings."""
        return bearer(headers)


def _conversation(messages: list[Any]) -> Iterator[Said]:
    for message in messages:
        content = text_of(message.get("content"))
        match member(message, "role", str):
            case "assistant":
                yield Said(by_model=True)
            case "user":
                yield Said(texts=(content,))
            case "tool":
                yield Said(tool_results=(content,))
            case _:  # `system` and `developer` are nobody's words
                pass


class OpenAiChatWriter:
    """Deltas of one choice."""

    def __init__(self, asked: Asked, usage: Usage) -> None:
        self._usage = _usage(usage)
        self._id = f"chatcmpl-{uuid.uuid4().hex[:24]}"
        self._model = asked.model
        self._wants_usage = asked.wants_usage
        self._pieces: list[str] = []
        self._thought = ""
        self._calls: list[dict[str, Any]] = []

    def begin(self) -> Iterator[bytes]:
        """Who speaks."""
        yield self._delta({"role": "assistant", "content": ""})

    def say(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        self._pieces.append(piece)
        yield self._delta({"content": piece})

    def think(self, text: str) -> Iterator[bytes]:
        """A thought, in the member that compatible servers use for it."""
        self._thought += text
        yield self._delta({"reasoning_content": text})

    def call(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> Iterator[bytes]:
        """A call of a tool, its arguments in two pieces."""
        index = len(self._calls)
        written = compact(dict(arguments))
        call = {"id": f"call_{uuid.uuid4().hex[:24]}", "type": "function"}
        self._calls.append(call | {"function": {"name": tool.full_name, "arguments": written}})
        opened = {"index": index, **call, "function": {"name": tool.full_name, "arguments": ""}}
        yield self._delta({"tool_calls": [opened]})
        for piece in in_two(written):
            yield self._delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def fail(self, fail: Fail) -> Iterator[bytes]:
        """An event with the member `error`."""
        yield sse(openai_errors.problem(fail).body)

    def end(self, stop: Stop) -> Iterator[bytes]:
        """Why it is over; what it cost, to those who asked."""
        yield self._delta({}, finish_reason=self._finish_reason(stop))
        if self._wants_usage:
            yield sse(self._part("chat.completion.chunk") | {"choices": [], "usage": self._usage})
        yield _DONE

    def whole(self, stop: Stop) -> Mapping[str, Any]:
        """The completion."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._pieces) or None}
        if self._thought:
            message["reasoning_content"] = self._thought
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason(stop)}
        return self._part("chat.completion") | {"choices": [choice], "usage": self._usage}

    def _finish_reason(self, stop: Stop) -> str:
        return "tool_calls" if self._calls else _STOPS[stop]

    def _part(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": _CREATED, "model": self._model}

    def _delta(self, delta: Mapping[str, Any], *, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return sse(self._part("chat.completion.chunk") | {"choices": [choice]})


def _usage(usage: Usage) -> dict[str, Any]:
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    }
