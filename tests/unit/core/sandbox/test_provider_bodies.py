"""Bodies that ask a provider to reach elsewhere, and those that only look so."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.providers import WireFormat
from orchestrator.core.sandbox.provider_bodies import why_it_reaches_elsewhere
from orchestrator.core.sandbox.strict_json import UnreadableBody, parse_object

_ANTHROPIC, _CHAT = WireFormat.ANTHROPIC, WireFormat.OPENAI_CHAT
_RESPONSES, _GEMINI = WireFormat.OPENAI_RESPONSES, WireFormat.GEMINI


def _said(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


_REACHING: list[tuple[WireFormat, dict[str, Any]]] = [
    (_ANTHROPIC, {"mcp_servers": [{"type": "url", "url": "https://x"}]}),
    (_ANTHROPIC, {"MCP_Servers": [{"url": "https://x"}]}),
    (_ANTHROPIC, {"tools": [{"name": "a", "input_schema": {}}, {"type": "web_search_20250305"}]}),
    (_ANTHROPIC, {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    (_ANTHROPIC, {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
    (_ANTHROPIC, {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
    (_ANTHROPIC, {"tools": {"type": "web_search_20250305"}}),
    (_ANTHROPIC, _said([{"type": "image", "source": {"type": "url", "url": "https://x"}}])),
    (_ANTHROPIC, _said([{"type": "document", "source": {"type": "file", "file_id": "f"}}])),
    (_ANTHROPIC, _said([{"type": "container_upload", "file_id": "f"}])),
    (_ANTHROPIC, _said([{"type": "tool_result", "content": [{"type": "image", "source": {"url": "http://x"}}]}])),
    (_ANTHROPIC, _said([{"type": "document", "source": {"type": "content", "content": [
        {"type": "image", "source": {"type": "url", "url": "https://x"}}]}}])),
    (_ANTHROPIC, {"system": [{"type": "document", "source": {"type": "url", "url": "https://x"}}]}),
    (_CHAT, {"web_search_options": {}}),
    (_CHAT, {"plugins": [{"id": "web"}]}),
    (_CHAT, {"search_parameters": {"mode": "on"}}),
    (_CHAT, {"model": "gpt-4o-search-preview"}),
    (_CHAT, {"model": "vendor/model:online"}),
    (_CHAT, {"tools": [{"type": "web_search"}]}),
    (_CHAT, {"tools": [{"function": {"name": "a"}}, {"type": "mcp"}]}),
    (_CHAT, _said([{"type": "image_url", "image_url": {"url": "https://x/a.png"}}])),
    (_CHAT, _said([{"type": "image_url", "image_url": "https://x/a.png"}])),
    (_CHAT, _said([{"type": "file", "file": {"file_id": "file-1"}}])),
    (_CHAT, _said([{"type": "video_url", "video_url": {"url": "file:///etc/passwd"}}])),
    (_RESPONSES, {"tools": [{"type": "web_search"}]}),
    (_RESPONSES, {"tools": [{"type": "web_search_preview", "external_web_access": False}]}),
    (_RESPONSES, {"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}),
    (_RESPONSES, {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
    (_RESPONSES, {"tools": [{"type": "mcp", "server_url": "https://x"}]}),
    (_RESPONSES, {"tools": [{"type": "namespace", "tools": [{"type": "mcp", "connector_id": "c"}]}]}),
    (_RESPONSES, {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}),
    (_RESPONSES, {"prompt": {"id": "pmpt_1"}}),
    (_RESPONSES, {"model": "o3-deep-research"}),
    (_RESPONSES, {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x"}]}]}),
    (_RESPONSES, {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://x"}]}]}),
    (_RESPONSES, {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}),
    (_RESPONSES, {"input": [{"type": "input_image", "image_url": "https://x"}]}),
    (_RESPONSES, {"input": [{"type": "computer_call_output", "output": {"image_url": "https://x"}}]}),
    (_GEMINI, {"tools": [{"functionDeclarations": []}, {"googleSearch": {}}]}),
    (_GEMINI, {"tools": [{"google_search_retrieval": {}}]}),
    (_GEMINI, {"tools": {"urlContext": {}}}),
    (_GEMINI, {"tools": [{"code_execution": {}}]}),
    (_GEMINI, {"cachedContent": "cachedContents/x"}),
    (_GEMINI, {"contents": [{"parts": [{"fileData": {"fileUri": "https://x"}}]}]}),
    (_GEMINI, {"contents": {"parts": {"file_data": {"file_uri": "gs://x"}}}}),
    (_GEMINI, {"system_instruction": {"parts": [{"fileData": {"fileUri": "https://x"}}]}}),
    (_GEMINI, {"contents": [{"parts": [{"functionResponse": {"name": "a", "parts": [
        {"fileData": {"fileUri": "https://x"}}]}}]}]}),
    (_GEMINI, {"generateContentRequest": {"tools": [{"googleSearch": {}}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "body"), _REACHING, ids=lambda value: str(value)[:60])
def test_a_body_that_reaches_elsewhere_is_seen(wire: WireFormat, body: dict[str, Any]) -> None:
    assert why_it_reaches_elsewhere(wire, body) is not None


_LINKS: dict[str, Any] = {
    "source": {"type": "url", "url": "https://x"},
    "file_id": "f",
    "fileData": {},
    "image_url": "u",
}
_HARMLESS: list[tuple[WireFormat, dict[str, Any]]] = [
    (_ANTHROPIC, _said("look at https://x")),
    (_ANTHROPIC, {"mcp_servers": [], "tools": [{"name": "a"}, {"type": "custom", "name": "b"}]}),
    (_ANTHROPIC, {"tools": [{"type": "bash_20250124"}, {"type": "text_editor_20250728"}]}),
    (_ANTHROPIC, _said([{"type": "image", "source": {"type": "base64", "data": "AA=="}}])),
    (_ANTHROPIC, _said([{"type": "tool_use", "id": "1", "name": "a", "input": _LINKS}])),
    (_ANTHROPIC, _said([{"type": "search_result", "source": "https://x", "content": []}])),
    (_CHAT, _said([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}])),
    (_CHAT, {"tools": [{"type": "function", "function": {"name": "web_search"}}], "plugins": []}),
    (_CHAT, {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"function": _LINKS}]}]}),
    (_RESPONSES, {"prompt": "in words", "input": "look at https://x"}),
    (_RESPONSES, {"tools": [{"type": "function"}, {"type": "local_shell"}, {"type": "shell"}]}),
    (_RESPONSES, {"input": [{"type": "local_shell_call", "action": {"env": {"API_URL": "https://x"}}}]}),
    (_RESPONSES, {"input": [{"type": "function_call", "arguments": json.dumps(_LINKS)}]}),
    (_RESPONSES, {"input": [{"role": "assistant", "content": [
        {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "url": "https://x"}]}]}]}),
    (_GEMINI, {"tools": [{"functionDeclarations": [{"name": "googleSearch"}]}]}),
    (_GEMINI, {"contents": [{"parts": [{"inlineData": {"data": "AA=="}}]}]}),
    (_GEMINI, {"contents": [{"parts": [{"functionCall": {"args": _LINKS}}]}]}),
    (_GEMINI, {"contents": [{"parts": [{"functionResponse": {"response": _LINKS}}]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "body"), _HARMLESS, ids=lambda value: str(value)[:60])
def test_an_ordinary_conversation_goes_on_also_with_links_in_what_tools_and_models_said(
    wire: WireFormat, body: dict[str, Any]
) -> None:
    assert why_it_reaches_elsewhere(wire, body) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["tools", "type", "messages", "content", "source", "url", "input", "contents", "parts"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(wire=st.sampled_from(WireFormat), body=st.dictionaries(st.text(max_size=10), _JSON, max_size=5))
def test_every_json_object_is_judged(wire: WireFormat, body: dict[str, Any]) -> None:
    assert parse_object(json.dumps(body).encode()) == body
    assert isinstance(why_it_reaches_elsewhere(wire, body), str | None)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"1", b"nonsense", b'{"a":1,"a":1}', b'{"x":{"a":1,"a":2}}', '{"a":1}'.encode("utf-16"),
        b"\xef\xbb\xbf{}", b'{"a":"\xff"}', b'{"a":' * 100_000, b'{"a":[' + b"1," * 2_000_001 + b"1]}",
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_a_body_with_no_or_two_readings_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableBody):
        parse_object(body)
