"""OpenAI Responses."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_answers.put import Put


def whole(response: Mapping[str, Any]) -> Put:
    """An answer in one piece."""
    assert response["object"] == "response"
    items = response["output"]
    calls = [each for each in items if each["type"] == "function_call"]
    details = response["incomplete_details"]
    usage = response["usage"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    return Put(
        text="".join(part["text"] for each in items if each["type"] == "message" for part in each["content"]),
        thought="".join(
            part["text"] for each in items if each["type"] == "reasoning" for part in each["summary"]
        ),
        calls=tuple((each["name"], json.loads(each["arguments"])) for each in calls),
        stop=response["status"] if details is None else details["reason"],
        tokens=(usage["input_tokens"] - cached, usage["output_tokens"], cached),
    )


def streamed(events: Sequence[Mapping[str, Any]]) -> Put:
    """A stream, put together from its deltas; what the `done` events repeat has to be the same."""
    assert [each["sequence_number"] for each in events] == list(range(len(events)))
    assert [each["type"] for each in events[:2]] == ["response.created", "response.in_progress"]
    items: list[dict[str, Any]] = []
    for event in events[2:-1]:
        kind = event["type"].removeprefix("response.")
        if kind == "output_item.added":
            assert event["output_index"] == len(items)
            items.append({"text": "", "done": None})
        elif kind.endswith((".delta", ".done")):
            _fill(items[event["output_index"]], kind, event)
    response = events[-1]["response"]
    assert events[-1]["type"] == f"response.{response['status']}"
    assert [each["done"] for each in items] == response["output"]
    return whole(response)


def _fill(item: dict[str, Any], kind: str, event: Mapping[str, Any]) -> None:
    match kind:
        case "output_text.delta" | "function_call_arguments.delta" | "reasoning_summary_text.delta":
            item["text"] += event["delta"]
        case "output_text.done" | "reasoning_summary_text.done":
            assert event["text"] == item["text"]
        case "function_call_arguments.done":
            assert event["arguments"] == item["text"]
        case "content_part.done" | "reasoning_summary_part.done":
            assert event["part"]["text"] == item["text"]
        case "output_item.done":
            item["done"] = event["item"]
        case _:
            raise AssertionError(kind)
