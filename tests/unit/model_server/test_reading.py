"""What a request asks, in each wire format."""

from typing import Any

import pytest

from tests.support.model_calls import CHAT, FORMATS, GEMINI, MESSAGES, RESPONSES, Format
from tests.support.model_server.asked import Asked, Malformed, OfferedTool
from tests.support.model_server.routes import Generate, route

BY_NAME = [pytest.param(each, id=each.name) for each in FORMATS]


def read(asked_in: Format, body: dict[str, Any], *, is_stream: bool = False) -> Asked:
    """As the server reads it."""
    path, _, query = asked_in.path_for(is_stream).partition("?")
    found = route("POST", path, query, {})
    assert isinstance(found, Generate)
    return found.wire.read(body)


@pytest.mark.parametrize("asked_in", BY_NAME)
@pytest.mark.parametrize("is_stream", [True, False], ids=["streamed", "whole"])
def test_a_question_is_read_the_same_in_every_format(asked_in: Format, is_stream: bool) -> None:
    asked = read(asked_in, asked_in.ask("What is 2 + 2?", ["add", "sub"], is_stream), is_stream=is_stream)

    assert asked.model == "m-1"
    assert asked.is_stream is is_stream
    assert (asked.texts, asked.prompt) == (("What is 2 + 2?",), "What is 2 + 2?")
    assert asked.tool_results == ()
    assert asked.tools == (OfferedTool(name="add"), OfferedTool(name="sub"))


@pytest.mark.parametrize("asked_in", BY_NAME)
def test_after_a_tool_only_its_result_is_new(asked_in: Format) -> None:
    asked = read(asked_in, asked_in.after_tool("What is 2 + 2?", "four"))

    assert asked.texts == ()
    (result,) = asked.tool_results
    assert "four" in result


def test_a_follow_up_beside_a_tools_result_is_new_as_well() -> None:
    body = MESSAGES.after_tool("What is 2 + 2?", "four")
    body["messages"][-1]["content"].append({"type": "text", "text": "And 3 + 3?"})

    asked = read(MESSAGES, body)

    assert (asked.prompt, asked.tool_results) == ("And 3 + 3?", ("four",))


def test_an_older_question_that_was_never_answered_is_new_but_not_the_prompt() -> None:
    body = RESPONSES.ask("first", [], False)
    body["input"] += RESPONSES.ask("second", [], False)["input"]

    asked = read(RESPONSES, body)

    assert (asked.texts, asked.prompt) == (("first", "second"), "second")


@pytest.mark.parametrize(
    "added",
    [
        "<system-reminder>\nBe kind.",
        "<environment_context>",
        "\n<turn_aborted>",
        "[Request interrupted by user]",
    ],
)
def test_what_a_program_says_beside_a_person_is_no_prompt(added: str) -> None:
    body = MESSAGES.ask("<message>hello</message>", [], False)
    body["messages"][0]["content"].append({"type": "text", "text": added})

    asked = read(MESSAGES, body)

    assert (asked.texts, asked.prompt) == (("<message>hello</message>", added), "<message>hello</message>")


def test_instructions_are_nobodys_words() -> None:
    body = MESSAGES.ask("hello", [], False)
    body["messages"].append({"role": "system", "content": "There are agents."})

    assert read(MESSAGES, body).texts == ("hello",)


def test_tools_in_a_namespace_have_both_names() -> None:
    body = RESPONSES.ask("hello", [], False)
    body["tools"] = [{"type": "namespace", "name": "mcp__lab", "tools": [{"name": "add"}]}]

    asked = read(RESPONSES, body)

    assert [each.full_name for each in asked.tools] == ["mcp__lab__add"]


@pytest.mark.parametrize(
    ("asked_in", "body", "named"),
    [
        pytest.param(MESSAGES, {"model": "m", "messages": []}, "max_tokens", id="messages without a limit"),
        pytest.param(MESSAGES, {"max_tokens": 1, "messages": []}, "model", id="messages without a model"),
        pytest.param(MESSAGES, {"model": "m", "max_tokens": 1}, "messages", id="messages without any"),
        pytest.param(CHAT, {"model": "m", "messages": "hello"}, "messages", id="chat with a bare text"),
        pytest.param(CHAT, {"model": "m", "messages": [{}]}, "role", id="chat from nobody"),
        pytest.param(RESPONSES, {"model": "m"}, "input", id="responses without an input"),
        pytest.param(GEMINI, {"contents": [{"role": "user"}]}, "parts", id="gemini without parts"),
    ],
)
def test_a_body_that_is_wrong_is_refused_by_the_name_of_its_member(
    asked_in: Format, body: dict[str, Any], named: str
) -> None:
    with pytest.raises(Malformed, match=named):
        read(asked_in, body)
