"""The same question in each wire format, as the providers' API references show it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.support.model_answers import from_chat, from_gemini, from_messages, from_responses
from tests.support.model_answers.put import Put

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One wire format from its client's side.

    ask: a body from a text, the names of the tools and whether it is to stream. after_tool: one that goes
    on after the model has called a tool. whole, streamed: what an answer says. key_header: how a key is sent.
    """

    name: str
    path: str
    stream_path: str
    ask: Callable[[str, Sequence[str], bool], Body]
    after_tool: Callable[[str, str], Body]
    whole: Callable[[Mapping[str, Any]], Put]
    streamed: Callable[[Sequence[Mapping[str, Any]]], Put]
    key_header: tuple[str, str]

    def path_for(self, is_stream: bool) -> str:
        """Where such a question goes."""
        return self.stream_path if is_stream else self.path

    def headers(self, key: str) -> dict[str, str]:
        """The credential, as a client of this format sends it."""
        name, scheme = self.key_header
        return {name: f"{scheme}{key}"}


def events(body: str) -> list[dict[str, Any]]:
    """The JSON of each server-sent event, but for the closing word of Chat Completions."""
    lines = [line.removeprefix("data: ") for line in body.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def _messages(text: str, tools: Sequence[str], is_stream: bool) -> Body:
    return {
        "model": "m-1",
        "max_tokens": 100,
        "stream": is_stream,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools],
    }


def _messages_after_tool(text: str, result: str) -> Body:
    call = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": result}]}
    body = _messages(text, ["add"], False)
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "text", "text": "I add."}, call]},
        {"role": "user", "content": [answer]},
    ]
    return body


def _chat(text: str, tools: Sequence[str], is_stream: bool) -> Body:
    return {
        "model": "m-1",
        "stream": is_stream,
        "stream_options": {"include_usage": True} if is_stream else None,
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}],
        "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools],
    }


def _chat_after_tool(text: str, result: str) -> Body:
    call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    body = _chat(text, ["add"], False)
    body["messages"] += [
        {"role": "assistant", "content": "I add.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
    return body


def _responses(text: str, tools: Sequence[str], is_stream: bool) -> Body:
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {
        "model": "m-1",
        "stream": is_stream,
        "instructions": "Be kind.",
        "input": [asked],
        "tools": [{"type": "function", "name": name, "parameters": {}} for name in tools],
    }


def _responses_after_tool(text: str, result: str) -> Body:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I add."}]}
    body = _responses(text, ["add"], False)
    body["input"] += [
        said,
        {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": result},
    ]
    return body


def _gemini(text: str, tools: Sequence[str], is_stream: bool) -> Body:
    return {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "tools": [{"functionDeclarations": [{"name": name} for name in tools]}],
    }


def _gemini_after_tool(text: str, result: str) -> Body:
    body = _gemini(text, ["add"], False)
    answer = {"functionResponse": {"name": "add", "response": {"output": result}}}
    body["contents"] += [
        {"role": "model", "parts": [{"text": "I add."}, {"functionCall": {"name": "add", "args": {}}}]},
        {"role": "user", "parts": [answer]},
    ]
    return body


MESSAGES: Final = Format(
    name="anthropic messages",
    path="/v1/messages",
    stream_path="/v1/messages",
    ask=_messages,
    after_tool=_messages_after_tool,
    whole=from_messages.whole,
    streamed=from_messages.streamed,
    key_header=("x-api-key", ""),
)
CHAT: Final = Format(
    name="openai chat completions",
    path="/v1/chat/completions",
    stream_path="/v1/chat/completions",
    ask=_chat,
    after_tool=_chat_after_tool,
    whole=from_chat.whole,
    streamed=from_chat.streamed,
    key_header=("authorization", "Bearer "),
)
RESPONSES: Final = Format(
    name="openai responses",
    path="/v1/responses",
    stream_path="/v1/responses",
    ask=_responses,
    after_tool=_responses_after_tool,
    whole=from_responses.whole,
    streamed=from_responses.streamed,
    key_header=("authorization", "Bearer "),
)
GEMINI: Final = Format(
    name="gemini",
    path="/v1beta/models/m-1:generateContent",
    stream_path="/v1beta/models/m-1:streamGenerateContent?alt=sse",
    ask=_gemini,
    after_tool=_gemini_after_tool,
    whole=from_gemini.whole,
    streamed=from_gemini.streamed,
    key_header=("x-goog-api-key", ""),
)
FORMATS: Final = (MESSAGES, CHAT, RESPONSES, GEMINI)
