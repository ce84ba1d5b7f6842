"""Anthropic Messages: `POST /v1/messages`. Source: the API reference, "Messages" and "Streaming"."""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.support.model_server.asked import (
    Asked,
    Malformed,
    OfferedTool,
    Said,
    member,
    since_the_model_spoke,
    text_of,
)
from tests.support.model_server.script import Fail, Stop, Usage
from tests.support.model_server.wires.wire import Problem, bearer, compact, in_two, retry_after, sse

_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_STOPS: Final = {Stop.END: "end_turn", Stop.MAX_TOKENS: "max_tokens", Stop.REFUSAL: "refusal"}
_TOO_LONG: Final = Fail(status=400, message="prompt is too long: 213423 tokens > 200000 maximum")


class Anthropic:
    """The wire format of Claude's API."""

    stream_type = "text/event-stream; charset=utf-8"
    streams_overflow = False

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request asks; raises Malformed."""
        member(body, "max_tokens", int)
        news = since_the_model_spoke(_conversation(member(body, "messages", list)))
        return Asked(
            model=member(body, "model", str),
            is_stream=body.get("stream") is True,
            texts=news.texts,
            prompt=news.prompt,
            tool_results=news.tool_results,
            tools=tuple(OfferedTool(name=tool["name"]) for tool in body.get("tools") or ()),
        )

    def writer(self, asked: Asked, usage: Usage) -> "AnthropicWriter":
        """For one answer that costs this."""
        return AnthropicWriter(asked.model, usage)

    def problem(self, fail: Fail) -> Problem:
        """An error before anything was answered."""
        said = _TOO_LONG if fail.is_context_overflow else fail
        headers = {"request-id": f"req_{uuid.uuid4().hex}", **retry_after(said)}
        return Problem(status=said.status, body=_error(said), headers=headers)

    def credential(self, headers: Mapping[str, str], query: str) -> str | None:
        """The key that a request brings."""
        return headers.get("x-api-key") or bearer(headers)


def _error(fail: Fail) -> dict[str, Any]:
    kind = fail.code or _KINDS.get(fail.status, "api_error")
    message = fail.message or f"The model server was told to fail with {fail.status}."
    return {"type": "error", "error": {"type": kind, "message": message}}


def _conversation(messages: list[Any]) -> Iterator[Said]:
    for message in messages:
        match member(message, "role", str):
            case "assistant":
                yield Said(by_model=True)
            case "user":
                yield _said(message.get("content"))
            case _:  # `system` among the messages is nobody's word
                pass


def _said(content: object) -> Said:
    if isinstance(content, str):
        return Said(texts=(content,))
    if not isinstance(content, list):
        raise Malformed("messages: content is neither a text nor a list")
    return Said(
        texts=tuple(text_of(block) for block in content if block.get("type") == "text"),
        tool_results=tuple(
            text_of(block.get("content")) for block in content if block.get("type") == "tool_result"
        ),
    )


class AnthropicWriter:
    """Blocks one after the other, each opened, filled and closed."""

    def __init__(self, model: str, usage: Usage) -> None:
        self._usage = _usage(usage)
        self._blocks: list[dict[str, Any]] = []
        self._message: dict[str, Any] = {
            "id": f"msg_{uuid.uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage | {"output_tokens": 1},
        }
        self._is_open = False
        self._pieces: list[str] = []

    def begin(self) -> Iterator[bytes]:
        """The message without content, with what the question costs; the end tells the rest."""
        yield _event({"type": "message_start", "message": self._message})
        yield _event({"type": "ping"})

    def say(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        if not self._is_open or self._blocks[-1]["type"] != "text":
            yield from self._open({"type": "text", "text": ""})
        self._pieces.append(piece)
        yield self._delta({"type": "text_delta", "text": piece})

    def think(self, text: str) -> Iterator[bytes]:
        """A thought, signed."""
        yield from self._open({"type": "thinking", "thinking": "", "signature": ""})
        self._blocks[-1] |= {"thinking": text, "signature": "c2lnbmVk"}
        yield self._delta({"type": "thinking_delta", "thinking": text})
        yield self._delta({"type": "signature_delta", "signature": "c2lnbmVk"})

    def call(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> Iterator[bytes]:
        """A call of a tool, its arguments in two pieces."""
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": tool.full_name}
        yield from self._open(block | {"input": {}})
        self._blocks[-1]["input"] = dict(arguments)
        for piece in ("", *in_two(compact(dict(arguments)))):
            yield self._delta({"type": "input_json_delta", "partial_json": piece})

    def fail(self, fail: Fail) -> Iterator[bytes]:
        """An `error` event."""
        yield sse(_error(_TOO_LONG if fail.is_context_overflow else fail), event="error")

    def end(self, stop: Stop) -> Iterator[bytes]:
        """Why it is over, what it cost."""
        yield from self._close()
        why = {"stop_reason": self._stop_reason(stop), "stop_sequence": None}
        yield _event({"type": "message_delta", "delta": why, "usage": self._usage})
        yield _event({"type": "message_stop"})

    def whole(self, stop: Stop) -> Mapping[str, Any]:
        """The message."""
        said = {"content": self._blocks, "stop_reason": self._stop_reason(stop), "usage": self._usage}
        return self._message | said

    def _stop_reason(self, stop: Stop) -> str:
        return "tool_use" if any(each["type"] == "tool_use" for each in self._blocks) else _STOPS[stop]

    def _open(self, block: Mapping[str, Any]) -> Iterator[bytes]:
        yield from self._close()
        self._blocks.append(dict(block))
        self._is_open = True
        start = {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": block}
        yield _event(start)

    def _close(self) -> Iterator[bytes]:
        if self._is_open:
            self._is_open = False
            if self._blocks[-1]["type"] == "text":
                self._blocks[-1]["text"] = "".join(self._pieces)
                self._pieces.clear()
            yield _event({"type": "content_block_stop", "index": len(self._blocks) - 1})

    def _delta(self, delta: Mapping[str, Any]) -> bytes:
        return _event({"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta})


def _event(payload: Mapping[str, Any]) -> bytes:
    return sse(payload, event=payload["type"])


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    }
