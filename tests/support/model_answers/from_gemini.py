"""Gemini."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_answers.put import Put


def whole(answer: Mapping[str, Any]) -> Put:
    """An answer in one piece."""
    (candidate,) = answer["candidates"]
    parts = candidate["content"]["parts"]
    usage = answer["usageMetadata"]
    cached = usage["cachedContentTokenCount"]
    calls = [each["functionCall"] for each in parts if "functionCall" in each]
    return Put(
        text="".join(each.get("text", "") for each in parts if not each.get("thought")),
        thought="".join(each["text"] for each in parts if each.get("thought")),
        calls=tuple((each["name"], each["args"]) for each in calls),
        stop=candidate.get("finishReason"),
        tokens=(usage["promptTokenCount"] - cached, usage["candidatesTokenCount"], cached),
    )


def streamed(events: Sequence[Mapping[str, Any]]) -> Put:
    """A stream, put together: only the last event says why it is over."""
    parts: list[Any] = []
    for event in events:
        (candidate,) = event["candidates"]
        assert candidate["content"]["role"] == "model"
        assert ("finishReason" in candidate) == (event is events[-1])
        parts += candidate["content"]["parts"]
    (last,) = events[-1]["candidates"]
    return whole({**events[-1], "candidates": [{**last, "content": {"parts": parts}}]})
