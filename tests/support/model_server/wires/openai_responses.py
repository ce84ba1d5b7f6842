"""OpenAI Responses: `POST /v1/responses`. Source: the API reference, "Responses" and "Streaming"."""

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
from tests.support.model_server.wires import openai_errors
from tests.support.model_server.wires.wire import Problem, bearer, compact, in_two, sse

_CREATED: Final = 1_764_288_000
_TOO_LONG: Final = Fail(
    status=400,
    code="context_length_exceeded",
    message="Your input exceeds the context window of this model. Please adjust your input and try again.",
)
_INCOMPLETE: Final = {Stop.MAX_TOKENS: "max_output_tokens", Stop.REFUSAL: "content_filter"}
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


class OpenAiResponses:
    """The wire format that Codex speaks."""

    stream_type = "text/event-stream; charset=utf-8"
    streams_overflow = True

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request asks; raises Malformed."""
        given = body.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list):
            raise Malformed("input: neither a text nor a list")
        news = since_the_model_spoke(_conversation(given))
        return Asked(
            model=member(body, "model", str),
            is_stream=body.get("stream") is True,
            texts=news.texts,
            prompt=news.prompt,
            tool_results=news.tool_results,
            tools=tuple(_functions(body.get("tools") or [])),
        )

    def writer(self, asked: Asked, usage: Usage) -> "OpenAiResponsesWriter":
        """For one answer that costs this."""
        return OpenAiResponsesWriter(asked.model, usage)

    def problem(self, fail: Fail) -> Problem:
        """An error before anything was answered."""
        return openai_errors.problem(_TOO_LONG if fail.is_context_overflow else fail)

    def credential(self, headers: Mapping[str, str], query: str) -> str | None:
        """The key that a request brings."""
        return bearer(headers)


def _functions(tools: list[Any]) -> Iterator[OfferedTool]:
    """Those that take JSON; the provider's own tools are not for a script to call."""
    for tool in tools:
        if tool.get("type") == "function":
            yield OfferedTool(name=tool["name"])
        elif tool.get("type") == "namespace":
            for inner in tool.get("tools") or ():
                yield OfferedTool(name=inner["name"], namespace=tool["name"])


def _conversation(items: list[Any]) -> Iterator[Said]:
    for item in items:
        kind = item.get("type", "message")
        if kind in _OUTPUTS:
            yield Said(tool_results=(text_of(item.get("output")),))
        elif kind != "message" or item.get("role") == "assistant":
            yield Said(by_model=True)
        elif item.get("role") == "user":
            content = item.get("content")
            parts = content if isinstance(content, list) else [content]
            yield Said(texts=tuple(text_of(part) for part in parts))


class OpenAiResponsesWriter:
    """Items one after the other, each added, filled and done; every event has the next number."""

    def __init__(self, model: str, usage: Usage) -> None:
        self._usage = _usage(usage)
        self._id = f"resp_{uuid.uuid4().hex}"
        self._model = model
        self._number = -1
        self._items: list[dict[str, Any]] = []
        self._is_open = False
        self._pieces: list[str] = []

    def begin(self) -> Iterator[bytes]:
        """The response without output."""
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, {"response": self._response("in_progress")})

    def say(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        if not self._is_open:
            yield from self._open_message()
        self._pieces.append(piece)
        yield self._at_text("response.output_text.delta", {"delta": piece, "logprobs": []})

    def think(self, text: str) -> Iterator[bytes]:
        """The summary of a thought."""
        yield from self._close()
        part = {"type": "summary_text", "text": text}
        item = {"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": []}
        yield self._add(item)
        place = {"item_id": item["id"], "output_index": len(self._items) - 1, "summary_index": 0}
        part_event = "response.reasoning_summary_part"
        text_event = "response.reasoning_summary_text"
        yield self._event(f"{part_event}.added", place | {"part": part | {"text": ""}})
        yield self._event(f"{text_event}.delta", place | {"delta": text})
        yield self._event(f"{text_event}.done", place | {"text": text})
        yield self._event(f"{part_event}.done", place | {"part": part})
        self._items[-1]["summary"] = [part]
        yield self._done()

    def call(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> Iterator[bytes]:
        """A call of a function, its arguments in two pieces."""
        yield from self._close()
        written = compact(dict(arguments))
        item = {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": f"call_{uuid.uuid4().hex[:24]}",
            "name": tool.name,
            "arguments": "",
        }
        if tool.namespace is not None:
            item["namespace"] = tool.namespace
        yield self._add(item)
        place = {"item_id": item["id"], "output_index": len(self._items) - 1}
        for piece in in_two(written):
            yield self._event("response.function_call_arguments.delta", place | {"delta": piece})
        yield self._event("response.function_call_arguments.done", place | {"arguments": written})
        self._items[-1] |= {"arguments": written, "status": "completed"}
        yield self._done()

    def fail(self, fail: Fail) -> Iterator[bytes]:
        """The response has failed."""
        said = _TOO_LONG if fail.is_context_overflow else fail
        error = openai_errors.error_of(said)
        short = {"code": error["code"] or error["type"], "message": error["message"]}
        yield self._event("response.failed", {"response": self._response("failed", error=short)})

    def end(self, stop: Stop) -> Iterator[bytes]:
        """The whole response once more, with what it cost."""
        yield from self._close()
        response = self.whole(stop)
        yield self._event(f"response.{response['status']}", {"response": response})

    def whole(self, stop: Stop) -> Mapping[str, Any]:
        """The response."""
        if stop is Stop.END:
            return self._response("completed")
        response = self._response("incomplete")
        response["incomplete_details"] = {"reason": _INCOMPLETE[stop]}
        return response

    def _response(self, status: str, *, error: Mapping[str, Any] | None = None) -> dict[str, Any]:
        is_over = status in ("completed", "incomplete")
        return {
            "id": self._id,
            "object": "response",
            "created_at": _CREATED,
            "status": status,
            "error": error,
            "incomplete_details": None,
            "model": self._model,
            "output": self._items if is_over else [],
            "usage": self._usage if is_over else None,
        }

    def _open_message(self) -> Iterator[bytes]:
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        item = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "status": "in_progress"}
        yield self._add(item | {"role": "assistant", "content": []})
        self._is_open = True
        yield self._at_text("response.content_part.added", {"part": dict(part)})
        self._items[-1]["content"] = [part]

    def _close(self) -> Iterator[bytes]:
        if not self._is_open:
            return
        self._is_open = False
        self._items[-1]["status"] = "completed"
        part = self._items[-1]["content"][0]
        part["text"] = "".join(self._pieces)
        self._pieces.clear()
        yield self._at_text("response.output_text.done", {"text": part["text"], "logprobs": []})
        yield self._at_text("response.content_part.done", {"part": part})
        yield self._done()

    def _add(self, item: dict[str, Any]) -> bytes:
        self._items.append(item)
        return self._event(
            "response.output_item.added", {"output_index": len(self._items) - 1, "item": dict(item)}
        )

    def _done(self) -> bytes:
        place = {"output_index": len(self._items) - 1}
        return self._event("response.output_item.done", place | {"item": self._items[-1]})

    def _at_text(self, kind: str, payload: dict[str, Any]) -> bytes:
        place = {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1, "content_index": 0}
        return self._event(kind, place | payload)

    def _event(self, kind: str, payload: Mapping[str, Any]) -> bytes:
        self._number += 1
        return sse({"type": kind, "sequence_number": self._number, **payload}, event=kind)


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + usage.output_tokens,
    }
