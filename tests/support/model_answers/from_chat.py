"""OpenAI Chat Completions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_answers.put import Put


def whole(completion: Mapping[str, Any]) -> Put:
    """An answer in one piece."""
    assert completion["object"] == "chat.completion"
    (choice,) = completion["choices"]
    message = choice["message"]
    calls = [each["function"] for each in message.get("tool_calls", [])]
    return Put(
        text=message["content"] or "",
        thought=message.get("reasoning_content", ""),
        calls=tuple((each["name"], json.loads(each["arguments"])) for each in calls),
        stop=choice["finish_reason"],
        tokens=_tokens(completion["usage"]),
    )


def streamed(events: Sequence[Mapping[str, Any]]) -> Put:
    """A stream, put together; its last event has no choice, only the usage."""
    *deltas, last = events
    assert last["choices"] == []
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    stop = None
    for event in deltas:
        assert event["object"] == "chat.completion.chunk"
        (choice,) = event["choices"]
        assert stop is None
        stop = choice["finish_reason"]
        delta = choice["delta"]
        for member in ("content", "reasoning_content"):
            message[member] += delta.get(member, "")
        for call in delta.get("tool_calls", []):
            _add(message["tool_calls"], call)
    choice = {"message": message, "finish_reason": stop}
    return whole({"object": "chat.completion", "choices": [choice], "usage": last["usage"]})


def _add(calls: list[dict[str, Any]], call: Mapping[str, Any]) -> None:
    if call["index"] == len(calls):
        assert call["id"]
        calls.append({"function": dict(call["function"])})
    else:
        calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]


def _tokens(usage: Mapping[str, Any]) -> tuple[int, int, int]:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    return usage["prompt_tokens"] - cached, usage["completion_tokens"], cached
