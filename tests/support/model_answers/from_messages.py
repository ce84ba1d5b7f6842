"""Anthropic Messages."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_answers.put import Put


def whole(message: Mapping[str, Any]) -> Put:
    """An answer in one piece."""
    assert (message["type"], message["role"]) == ("message", "assistant")
    blocks = message["content"]
    return Put(
        text="".join(each["text"] for each in blocks if each["type"] == "text"),
        thought="".join(each["thinking"] for each in blocks if each["type"] == "thinking"),
        calls=tuple((each["name"], each["input"]) for each in blocks if each["type"] == "tool_use"),
        stop=message["stop_reason"],
        tokens=_tokens(message["usage"]),
    )


def streamed(events: Sequence[Mapping[str, Any]]) -> Put:
    """A stream, put together: every block is opened, filled and closed before the next one."""
    kinds = [each["type"] for each in events if each["type"] != "ping"]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    message = dict(events[0]["message"])
    blocks: list[dict[str, Any]] = []
    written: list[str] = []
    is_open = False
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert not is_open
                assert event["index"] == len(blocks)
                is_open = True
                blocks.append(dict(event["content_block"]))
                written.append("")
            case "content_block_delta":
                assert is_open
                assert event["index"] == len(blocks) - 1
                _fill(blocks[-1], event["delta"], written)
            case "content_block_stop":
                assert is_open
                is_open = False
                if blocks[-1]["type"] == "tool_use":
                    blocks[-1]["input"] = json.loads(written[-1])
            case "message_delta":
                assert not is_open
                message |= event["delta"]
                message["usage"] = message["usage"] | event["usage"]
    return whole(message | {"content": blocks})


def _fill(block: dict[str, Any], delta: Mapping[str, Any], written: list[str]) -> None:
    match delta["type"], block["type"]:
        case "text_delta", "text":
            block["text"] += delta["text"]
        case "thinking_delta", "thinking":
            block["thinking"] += delta["thinking"]
        case "signature_delta", "thinking":
            block["signature"] += delta["signature"]
        case "input_json_delta", "tool_use":
            written[-1] += delta["partial_json"]
        case kinds:
            raise AssertionError(f"{kinds[0]} in a block of type {kinds[1]}")


def _tokens(usage: Mapping[str, int]) -> tuple[int, int, int]:
    return usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"]
