"""Gemini: `POST /v1beta/models/<model>:generateContent` and `:streamGenerateContent`.

Source: the API reference, "Generating content". The model and whether it streams stand in the path.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from tests.support.model_server.asked import (
    Asked,
    Malformed,
    OfferedTool,
    Said,
    member,
    since_the_model_spoke,
)
from tests.support.model_server.script import Fail, Stop, Usage
from tests.support.model_server.wires.wire import Problem, compact, sse

_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_STOPS: Final = {Stop.END: "STOP", Stop.MAX_TOKENS: "MAX_TOKENS", Stop.REFUSAL: "SAFETY"}
_TOO_LONG: Final = Fail(
    status=400,
    message="The input token count (1213423) exceeds the maximum number of tokens allowed (1048576).",
)
_RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"


class Gemini:
    """One call of one model. is_sse: a stream of events; otherwise a stream is one JSON array."""

    streams_overflow = False

    def __init__(self, *, model: str = "", is_stream: bool = False, is_sse: bool = True) -> None:
        self._model = model
        self._is_stream = is_stream
        self._is_sse = is_sse
        self.stream_type = "text/event-stream" if is_sse else "application/json; charset=UTF-8"

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request asks; raises Malformed."""
        news = since_the_model_spoke(_conversation(member(body, "contents", list)))
        return Asked(
            model=self._model,
            is_stream=self._is_stream,
            texts=news.texts,
            prompt=news.prompt,
            tool_results=news.tool_results,
            tools=tuple(
                OfferedTool(name=declared["name"])
                for tool in body.get("tools") or ()
                for declared in tool.get("functionDeclarations") or ()
            ),
        )

    def writer(self, asked: Asked, usage: Usage) -> "GeminiWriter":
        """For one answer that costs this."""
        return GeminiWriter(asked.model, usage, is_sse=self._is_sse)

    def problem(self, fail: Fail) -> Problem:
        """An error before anything was answered."""
        said = _TOO_LONG if fail.is_context_overflow else fail
        return Problem(status=said.status, body={"error": _error(said)}, headers={})

    def credential(self, headers: Mapping[str, str], query: str) -> str | None:
        """The key that a request brings."""
        return headers.get("x-goog-api-key") or next(iter(parse_qs(query).get("key", ())), None)


def _error(fail: Fail) -> dict[str, Any]:
    message = fail.message or f"The model server was told to fail with {fail.status}."
    status = fail.code or _STATUSES.get(fail.status, "UNKNOWN")
    error: dict[str, Any] = {"code": fail.status, "message": message, "status": status}
    if fail.retry_after_s is not None:
        error["details"] = [{"@type": _RETRY_INFO, "retryDelay": f"{fail.retry_after_s}s"}]
    return error


def _conversation(contents: list[Any]) -> Iterator[Said]:
    for content in contents:
        if content.get("role") == "model":
            yield Said(by_model=True)
            continue
        parts = member(content, "parts", list)
        if not all(isinstance(part, dict) for part in parts):
            raise Malformed("contents: a part is no object")
        yield Said(
            texts=tuple(part["text"] for part in parts if "text" in part),
            tool_results=tuple(
                compact(part["functionResponse"].get("response"))
                for part in parts
                if "functionResponse" in part
            ),
        )


class GeminiWriter:
    """Every event is an answer of its own, with the parts that are new; usage stands in the last."""

    def __init__(self, model: str, usage: Usage, *, is_sse: bool) -> None:
        self._usage = _usage(usage)
        self._id = uuid.uuid4().hex[:20]
        self._model = model
        self._is_sse = is_sse
        self._is_first = True
        self._parts: list[dict[str, Any]] = []

    def begin(self) -> Iterator[bytes]:
        """Nothing: the first part is the beginning."""
        yield from ()

    def say(self, piece: str) -> Iterator[bytes]:
        """A piece of text."""
        yield self._part({"text": piece})

    def think(self, text: str) -> Iterator[bytes]:
        """A thought."""
        yield self._part({"text": text, "thought": True})

    def call(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> Iterator[bytes]:
        """A call of a tool, whole: this format does not cut arguments."""
        call = {"name": tool.full_name, "args": dict(arguments)}
        yield self._part({"functionCall": call, "thoughtSignature": "c2lnbmVk"})

    def fail(self, fail: Fail) -> Iterator[bytes]:
        """An event with the member `error`."""
        yield self._framed({"error": _error(_TOO_LONG if fail.is_context_overflow else fail)})
        yield from self._last()

    def end(self, stop: Stop) -> Iterator[bytes]:
        """Why it is over, what it cost."""
        yield self._framed(self._answer([{"text": ""}], stop=stop) | {"usageMetadata": self._usage})
        yield from self._last()

    def whole(self, stop: Stop) -> Mapping[str, Any]:
        """The answer with all parts."""
        return self._answer(self._parts, stop=stop) | {"usageMetadata": self._usage}

    def _part(self, part: dict[str, Any]) -> bytes:
        self._parts.append(part)
        return self._framed(self._answer([part], stop=None))

    def _answer(self, parts: list[dict[str, Any]], *, stop: Stop | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if stop is not None:
            candidate["finishReason"] = _STOPS[stop]
        return {"candidates": [candidate], "modelVersion": self._model, "responseId": self._id}

    def _framed(self, answer: Mapping[str, Any]) -> bytes:
        if self._is_sse:
            return sse(answer)
        opening = "[" if self._is_first else ",\r\n"
        self._is_first = False
        return f"{opening}{compact(answer)}".encode()

    def _last(self) -> Iterator[bytes]:
        if not self._is_sse:
            yield b"]"


def _usage(usage: Usage) -> dict[str, int]:
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": prompt + usage.output_tokens,
        "cachedContentTokenCount": usage.cache_read_tokens,
    }
