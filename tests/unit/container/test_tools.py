"""What a model is told of the tools, and what its calls become."""

import inspect
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from container import tools
from container.tool_inputs import input_schema, request_for
from container.tools import ALL_TOOLS, find_tool, tools_of
from orchestrator.commands.catalog import CATALOG
from orchestrator.contracts.errors import InvalidRequest, NotFound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.task_requests import ScheduleTask
from orchestrator.contracts.wire.tools import Tool

CHAT = Jid("1@g.us")
# Word for word the inputs of seed document 002, section 3: name, type, the words it takes.
SEED_INPUTS: Mapping[str, Mapping[str, tuple[str, ...] | None]] = {
    "send_message": {"text": None},
    "schedule_task": {
        "prompt": None,
        "schedule_type": ("cron", "interval", "once"),
        "schedule_value": None,
        "context_mode": ("group", "isolated"),
    },
    "list_tasks": {},
    "pause_task": {"task_id": None},
    "resume_task": {"task_id": None},
    "cancel_task": {"task_id": None},
    "register_group": {
        "jid": None,
        "name": None,
        "folder": None,
        "trigger_pattern": None,
        "requires_trigger": None,
        "assistant_name": None,
    },
}
NOT_NEEDED = {"context_mode", "requires_trigger", "assistant_name"}
EVERY_TOOL = pytest.mark.parametrize("tool", ALL_TOOLS.values(), ids=ALL_TOOLS)


def example_call(tool: Tool) -> dict[str, object]:
    """A call with every argument, as the schema shows it."""
    return {name: given.example for name, given in tool.inputs.items()}


@pytest.mark.parametrize("name", SEED_INPUTS)
def test_a_tool_of_the_source_document_has_exactly_its_inputs(name: str) -> None:
    schema = input_schema(find_tool(name))

    found = {key: each.get("enum") for key, each in schema["properties"].items()}
    expected = {key: list(words) if words else None for key, words in SEED_INPUTS[name].items()}
    assert found == expected
    types = {key: each["type"] for key, each in schema["properties"].items()}
    assert types == {key: "boolean" if key == "requires_trigger" else "string" for key in expected}
    assert set(schema["required"]) == set(expected) - NOT_NEEDED
    assert schema["properties"].get("context_mode", {}).get("default", "group") == "group"


@EVERY_TOOL
def test_every_tool_is_a_request_that_the_orchestrator_knows(tool: Tool) -> None:
    assert tool.request in CATALOG


@EVERY_TOOL
def test_every_input_says_what_it_means_and_shows_an_example_that_is_taken(tool: Tool) -> None:
    schema = input_schema(tool)

    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(example_call(tool))
    assert all(len(each["description"]) > 20 for each in schema["properties"].values())
    assert isinstance(request_for(tool, example_call(tool), chat=CHAT), tool.request)


@EVERY_TOOL
def test_every_tool_says_what_to_do_when_no_answer_comes(tool: Tool) -> None:
    assert tool.doubt.endswith((".", "it."))
    assert tool.about.endswith(".")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"path": "a.txt"}, ""),
        ({"path": "a.txt", "caption": "look"}, "look"),
        ({"path": "a.txt", "caption": None}, ""),
    ],
)
def test_a_file_is_a_message_to_the_own_chat_with_one_attachment(
    arguments: dict[str, object], text: str
) -> None:
    assert request_for(find_tool("send_file"), arguments, chat=CHAT) == SendMessage(
        chat_jid=CHAT, text=text, attachments=("a.txt",)
    )


def test_a_message_goes_to_the_agents_own_chat() -> None:
    assert request_for(find_tool("send_message"), {"text": "hi"}, chat=CHAT) == SendMessage(
        chat_jid=CHAT, text="hi"
    )


def test_an_argument_that_is_null_counts_as_left_out() -> None:
    call = {"prompt": "p", "schedule_type": "cron", "schedule_value": "* * * * *", "context_mode": None}

    assert request_for(find_tool("schedule_task"), call, chat=CHAT) == ScheduleTask(
        prompt="p", schedule_type="cron", schedule_value="* * * * *", context_mode="group"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        pytest.param("send_message", {}, "needs the argument 'text'", id="left out"),
        pytest.param("send_message", {"text": None}, "needs the argument 'text'", id="null"),
        pytest.param("send_message", {"text": 5}, "'text' has to be a string, and is 5", id="number"),
        pytest.param(
            "send_message", {"text": "a", "chatJid": "x"}, "no argument 'chatJid'", id="foreign chat"
        ),
        pytest.param("list_tasks", {"all": True}, "It takes: no arguments", id="takes none"),
        pytest.param("update_task", {"task_id": "t", "notify": "no"}, "to be a boolean", id="not a boolean"),
        pytest.param(
            "update_task", {"task_id": "t", "catch_up": "some"}, "latest, skip, all", id="no choice"
        ),
        pytest.param("pause_task", {"task_id": ["t"]}, 'is ["t"]', id="list"),
    ],
)
def test_a_call_with_wrong_arguments_says_which_and_what_is_taken(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        request_for(find_tool(name), arguments, chat=CHAT)

    assert said in str(refused.value)


def test_an_unknown_tool_is_answered_by_the_names_of_those_there_are() -> None:
    with pytest.raises(NotFound, match="send_message, send_file, schedule_task"):
        find_tool("sendMessage")


def test_tools_need_only_the_standard_library() -> None:
    source = inspect.getsource(tools)

    assert "import mcp" not in source
    assert "pydantic" not in source


@pytest.mark.parametrize(
    ("toolsets", "groups", "tasks"),
    [
        (("chat", "tasks", "groups"), True, True),
        (("chat", "tasks"), False, True),
        (("groups",), True, False),
        (("chat", "nonsense"), False, False),
    ],
)
def test_only_the_tools_of_the_named_sets_are_offered(
    toolsets: tuple[str, ...], groups: bool, tasks: bool
) -> None:
    offered = tools_of(toolsets)

    assert {name in offered for name in ("register_group", "refresh_groups")} == {groups}
    assert {name in offered for name in ("schedule_task", "list_tasks")} == {tasks}
    assert ("send_message" in offered) == ("chat" in toolsets)


def test_a_tool_that_is_not_offered_is_not_there() -> None:
    with pytest.raises(NotFound, match="register_group"):
        find_tool("register_group", tools_of(("chat", "tasks")))
