"""What an input file says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.inputs import parse_input
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.boxes import Answer, AnswerStatus, Close, FollowUp
from orchestrator.contracts.wire.codec import WireError, to_json

ids = st.lists(st.text(), max_size=3).map(tuple)


@given(content=st.text(), message_ids=ids, triggers=ids, turn_id=st.none() | st.text().map(TurnId))
def test_what_the_host_writes_is_read_back(
    content: str, message_ids: tuple[str, ...], triggers: tuple[str, ...], turn_id: TurnId | None
) -> None:
    follow_up = FollowUp(content=content, text=content, ids=message_ids, triggers=triggers, turn_id=turn_id)

    assert parse_input(to_json(follow_up).encode()) == follow_up


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        pytest.param({"type": "message", "content": "a"}, FollowUp(content="a", text="a"), id="document"),
        pytest.param({"type": "message", "text": "a"}, FollowUp(content="a", text="a"), id="NanoClaw 1.x"),
        pytest.param({"text": "a"}, FollowUp(content="a", text="a"), id="without a type"),
        pytest.param(
            {"content": "a", "ids": ["x", 5], "triggers": "x", "turnId": 7},
            FollowUp(content="a", text="a", ids=("x",)),
            id="odd extras",
        ),
        pytest.param({"type": "_close"}, Close(), id="close"),
        pytest.param(
            {"type": "answer", "questionId": "q-1", "text": "No", "option": 1, "more": 1},
            Answer(question_id="q-1", text="No", option=1),
            id="an answer",
        ),
        pytest.param(
            {"type": "answer", "questionId": "q-1", "status": "expired"},
            Answer(question_id="q-1", status=AnswerStatus.EXPIRED),
            id="no answer",
        ),
    ],
)
def test_every_spelling_is_understood(plain: object, expected: object) -> None:
    assert parse_input(json.dumps(plain).encode()) == expected


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"type":"message"}', id="no text"),
        pytest.param(b'{"type":"message","content":5}', id="a number for a text"),
        pytest.param(b'{"type":"other","content":"a"}', id="another type"),
        pytest.param(b'{"type":"answer"}', id="an answer to nothing"),
        pytest.param(b'{"type":"answer","questionId":"q-1","status":"maybe"}', id="an odd answer"),
        pytest.param(b'{"type":["_close"]}', id="a list for a type"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"[" * 100_000, id="too deep"),
    ],
)
def test_what_says_nothing_is_refused(content: bytes) -> None:
    with pytest.raises(WireError):
        parse_input(content)


@given(st.binary())
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    try:
        meaning = parse_input(content)
    except WireError:
        return
    assert isinstance(meaning, FollowUp | Answer | Close)
