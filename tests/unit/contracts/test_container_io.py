"""What goes into a container, and the events it prints."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import GroupFolder, Jid, TurnId
from orchestrator.contracts.wire.boxes import Close, FollowUp, TurnAck, temporary_name
from orchestrator.contracts.wire.codec import WireError, from_json, to_json, to_plain
from orchestrator.contracts.wire.container_io import (
    AgentDefinition,
    AgentEvent,
    AgentLog,
    ContainerInput,
    Progress,
    Ready,
    SessionNamed,
    ToolUsed,
    TurnEnded,
    TurnError,
    TurnStarted,
    TurnStatus,
    Usage,
    WaitingInput,
    parse_event,
)

EVENTS: list[tuple[dict[str, object], AgentEvent]] = [
    ({"type": "ready", "protocol": 1, "version": "0.1"}, Ready(protocol=1, version="0.1")),
    ({"type": "ready", "protocol": 1, "mounts": {"/w": "8:1"}}, Ready(protocol=1, mounts={"/w": "8:1"})),
    ({"type": "session", "sessionId": "s-1"}, SessionNamed(session_id="s-1")),
    (
        {"type": "turn_started", "turnId": "t", "inputs": ["a", "b"]},
        TurnStarted(turn_id=TurnId("t"), inputs=("a", "b")),
    ),
    (
        {
            "type": "turn_ended",
            "turnId": "t",
            "inputs": ["a"],
            "outputs": 2,
            "status": "error",
            "error": {"code": "PROVIDER_OVERLOADED", "message": "busy"},
            "usage": {"input_tokens": 5, "output_tokens": 6, "cost_usd": 0.25},
        },
        TurnEnded(
            turn_id=TurnId("t"),
            inputs=("a",),
            outputs=2,
            status=TurnStatus.ERROR,
            error=TurnError(code="PROVIDER_OVERLOADED", message="busy"),
            usage=Usage(input_tokens=5, output_tokens=6, cost_usd=0.25),
        ),
    ),
    ({"type": "turn_ended", "turnId": "t"}, TurnEnded(turn_id=TurnId("t"))),
    ({"type": "tool", "name": "bash", "status": "started"}, ToolUsed(name="bash", status="started")),
    ({"type": "progress", "progress": 40}, Progress(progress=40)),
    (
        {"type": "waiting_input", "question": "Which?", "options": ["a"]},
        WaitingInput(question="Which?", options=("a",)),
    ),
    ({"type": "log", "level": "warning", "message": "m"}, AgentLog(message="m", level="warning")),
]


@pytest.mark.parametrize(("plain", "event"), EVENTS, ids=[str(plain["type"]) for plain, _ in EVENTS])
def test_each_event_of_the_contract_is_understood(plain: dict[str, object], event: AgentEvent) -> None:
    assert parse_event(plain) == event
    assert parse_event(to_plain(event)) == event


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        "ready",
        {},
        {"type": "unheard"},
        {"type": []},
        {"type": None},
        {"type": "ready"},
        {"type": "ready", "protocol": "1"},
        {"type": "turn_ended", "turnId": "t", "status": "fine"},
        {"type": "turn_started", "turnId": "t", "inputs": "a"},
        {"type": "progress", "progress": "half"},
    ],
    ids=repr,
)
def test_an_event_of_another_form_is_refused(plain: object) -> None:
    with pytest.raises(WireError):
        parse_event(plain)


@given(
    st.dictionaries(
        st.sampled_from(["type", "turnId", "inputs", "status", "error", "usage", "protocol", "progress"]),
        st.sampled_from(["ready", "turn_ended", "progress"])
        | st.none()
        | st.integers()
        | st.lists(st.text()),
    )
)
def test_any_object_is_an_event_or_a_wire_error(plain: dict[str, object]) -> None:
    try:
        event = parse_event(plain)
    except WireError:
        return

    assert event.type == plain["type"]


def test_input_carries_the_documents_fields_and_those_of_the_older_dialect() -> None:
    value = ContainerInput(
        messages=("<message>hi</message>",),
        group_folder=GroupFolder("main"),
        chat_jid=Jid("console:main"),
        assistant_name="Andy",
        prompt="<message>hi</message>",
        agent=AgentDefinition(driver="builtin"),
    )

    plain = json.loads(to_json(value))

    assert plain["messages"] == ["<message>hi</message>"]
    assert {key: plain[key] for key in ("groupFolder", "chatJid", "assistantName", "isTask")} == {
        "groupFolder": "main",
        "chatJid": "console:main",
        "assistantName": "Andy",
        "isTask": False,
    }
    assert (plain["prompt"], plain["isScheduledTask"]) == (plain["messages"][0], False)
    assert from_json(ContainerInput, to_json(value)) == value


def test_box_files_are_spelled_as_the_contract_says() -> None:
    follow_up = FollowUp(content="<m/>", text="<m/>", ids=("a", "b"), triggers=("b",), turn_id=TurnId("t"))

    assert to_plain(follow_up) == {
        "type": "message",
        "content": "<m/>",
        "text": "<m/>",
        "ids": ["a", "b"],
        "triggers": ["b"],
        "turnId": "t",
    }
    assert to_plain(Close()) == {"type": "_close"}
    assert to_plain(TurnAck(turn_id=TurnId("t"))) == {"turnId": "t", "inputs": [], "status": "started"}
    assert temporary_name("1.json") == ".1.json.tmp"
