"""Bytes to a request or to a reason: strict, bounded, and never an exception."""

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import WireError, from_json, to_json
from orchestrator.ipc.parse import (
    MAX_DEPTH,
    MAX_REQUEST_BYTES,
    FileRefusal,
    ParsedRequest,
    is_deeper_than,
    parse_request,
)


def _message(**fields: object) -> bytes:
    return json.dumps({"type": "message", "chatJid": "console:family", "text": "hi", **fields}).encode()


def _refused(raw: bytes) -> FileRefusal:
    verdict = parse_request("messages", raw)
    assert isinstance(verdict, FileRefusal)
    return verdict


def test_a_message_of_the_seed_document_is_read() -> None:
    verdict = parse_request("messages", _message(timestamp="2026-01-01T10:00:00Z"))

    assert verdict == ParsedRequest(
        request=SendMessage(chat_jid=Jid("console:family"), text="hi", timestamp="2026-01-01T10:00:00Z"),
        request_id=None,
    )


def test_all_fields_are_read_and_unknown_ones_passed_over() -> None:
    raw = _message(replyTo="m1", sender="Cook", requestId="r-1", groupFolder="family", extra={"a": [1]})

    verdict = parse_request("messages", raw)

    assert isinstance(verdict, ParsedRequest)
    assert verdict.request_id == "r-1"
    assert verdict.request == SendMessage(
        chat_jid=Jid("console:family"), text="hi", reply_to="m1", sender="Cook", request_id=verdict.request_id
    )


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(b"", "JSON", id="empty"),
        pytest.param(b"{", "JSON", id="half an object"),
        pytest.param(b"[]", "not an object", id="list"),
        pytest.param(b'"x"', "not an object", id="string"),
        pytest.param(b"null", "not an object", id="null"),
        pytest.param(_message(text="x" * MAX_REQUEST_BYTES), "bytes", id="too long"),
        pytest.param(b'{"a":' * 40 + b"1" + b"}" * 40, "nested", id="forty levels"),
        pytest.param(b'{"a":NaN}', "NaN", id="NaN"),
        pytest.param(b'{"a":-Infinity}', "Infinity", id="minus infinity"),
        pytest.param(b'{"a":1e999}', "too large", id="a number beyond floats"),
        pytest.param(b'{"a":' + b"9" * 5_000 + b"}", "digits", id="an integer of 5,000 digits"),
        pytest.param(b'{"a":1,"a":2}', "twice", id="twins"),
        pytest.param(b'{"x":{"a":1,"a":2}}', "twice", id="twins deep inside"),
        pytest.param(b"\xff\xfe{}", "UTF-8", id="not UTF-8"),
        pytest.param('{"type":"message"}'.encode("utf-16"), "UTF-8", id="UTF-16"),
        pytest.param(b'{"a":1} {}', "JSON", id="two objects"),
        pytest.param(b"{'a':1}", "JSON", id="single quotes"),
        pytest.param(b'{"a":1,}', "JSON", id="a comma too many"),
        pytest.param(b'{"a":"\x01"}', "JSON", id="a raw control character"),
    ],
)
def test_d_f_what_is_no_json_object_is_refused_saying_why(raw: bytes, said: str) -> None:
    """Case D-f."""
    refusal = _refused(raw)

    assert refusal.code is ErrorCode.INVALID_REQUEST
    assert said in refusal.message
    assert refusal.suggestion


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"chatJid": 1}, "chatJid", id="number for a string"),
        pytest.param({"text": None}, "text", id="null for a required field"),
        pytest.param({"text": ["x"]}, "text", id="list for a string"),
        pytest.param({"timestamp": 5}, "timestamp", id="number for an optional string"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], field: str) -> None:
    assert field in _refused(_message(**fields)).message


def test_a_field_within_another_that_nobody_knows_is_named_by_its_path() -> None:
    asked = {"type": "spawn_agent", "task": "count", "permissions": {"canSpwn": True}}

    verdict = parse_request("agents", json.dumps(asked).encode())

    assert isinstance(verdict, FileRefusal)
    assert "'permissions.canSpwn' is not known (did you mean 'permissions.canSpawn'?)" in verdict.message


def test_a_missing_field_is_named_and_the_reply_finds_its_asker() -> None:
    refusal = _refused(b'{"type":"message","text":"x","requestId":"r-1"}')

    assert "chatJid" in refusal.message
    assert refusal.request_id == "r-1"


def test_a_lone_surrogate_is_refused_since_no_store_can_hold_it() -> None:
    assert "hex escape" in _refused(rb'{"type":"message","chatJid":"c","text":"\ud800"}').message


def test_a_byte_order_mark_is_passed_over() -> None:
    assert isinstance(parse_request("messages", b"\xef\xbb\xbf" + _message()), ParsedRequest)


@pytest.mark.parametrize("kind", ["dance", "", "MESSAGE", "schedule_task"])
def test_an_unknown_type_is_refused_naming_the_known_ones(kind: str) -> None:
    refusal = _refused(_message(type=kind))

    assert refusal.code is ErrorCode.UNKNOWN_TYPE
    assert "message" in (refusal.suggestion or "")


@pytest.mark.parametrize("kind", [None, 1, ["message"], {"a": 1}, True])
def test_a_type_that_is_no_string_is_refused(kind: object) -> None:
    assert _refused(_message(type=kind)).code in (ErrorCode.UNKNOWN_TYPE, ErrorCode.INVALID_REQUEST)


def test_a_known_type_in_another_directory_is_unknown_there() -> None:
    verdict = parse_request("tasks", _message())

    assert isinstance(verdict, FileRefusal)
    assert verdict.code is ErrorCode.UNKNOWN_TYPE


@pytest.mark.parametrize("request_id", ["", "../x", "a b", "x" * 129, 5, ["r"], "-x", "ü"])
def test_a_request_id_that_breaks_the_rule_gets_no_reply(request_id: object) -> None:
    refusal = _refused(_message(requestId=request_id))

    assert "requestId" in refusal.message
    assert refusal.request_id is None


def test_the_request_id_of_an_unreadable_body_is_found_if_there_is_but_one() -> None:
    assert _refused(b'{"type":"message", "requestId" : "r-1", "text": NaN').request_id == "r-1"
    assert _refused(b'{"requestId":"r-1"} {"requestId":"r-2"}').request_id is None


def test_only_what_is_not_json_may_be_a_file_that_is_still_written() -> None:
    assert _refused(_message()[:-5]).may_be_unfinished
    assert _refused(b"").may_be_unfinished
    assert not _refused(_message(text=1)).may_be_unfinished
    assert not _refused(b'{"a":NaN}').may_be_unfinished
    assert not _refused(b"[]").may_be_unfinished


@pytest.mark.parametrize(
    ("text", "is_deeper"),
    [
        pytest.param("[" * MAX_DEPTH + "]" * MAX_DEPTH, False, id="exactly the limit"),
        pytest.param("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), True, id="one more"),
        pytest.param('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH, False, id="objects at the limit"),
        pytest.param('[{"a":' * 17 + "1" + "}]" * 17, True, id="mixed"),
        pytest.param("[" + "[]," * 500 + "[]]", False, id="wide"),
        pytest.param('"' + "[" * 500 + '"', False, id="brackets in a string"),
        pytest.param('["' + '\\"[' * 500 + '"]', False, id="brackets behind escaped quotes"),
        pytest.param("[" * 500, True, id="never closed"),
    ],
)
def test_depth_is_counted_as_json_means_it(text: str, is_deeper: bool) -> None:
    assert is_deeper_than(text.encode(), MAX_DEPTH) is is_deeper


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_depth_agrees_with_a_walk_of_the_value(value: object) -> None:
    def depth(each: object) -> int:
        if isinstance(each, dict):
            return 1 + max(map(depth, each.values()), default=0)
        if isinstance(each, list):
            return 1 + max(map(depth, each), default=0)
        return 0

    raw = json.dumps(value, ensure_ascii=False).encode()

    for limit in (1, 2, 3, 5):
        # The quick count may pass text with few brackets only when it cannot be deeper.
        assert is_deeper_than(raw, limit) is (depth(value) > limit)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'"\\' * 500_000, id="escapes without an end"),
        pytest.param(b"[]" * 500_000, id="half a million pairs"),
        pytest.param(b"[" * 1_000_000, id="a million open brackets"),
        pytest.param(b'{"' * 500_000, id="half a million open names"),
        pytest.param(b'"requestId":"' * 80_000, id="request ids without an end"),
        pytest.param(b'{"a":' + b"1" * 1_000_000 + b"}", id="a million digits"),
    ],
)
def test_no_mebibyte_takes_long(raw: bytes) -> None:
    begun = time.process_time()
    _refused(raw)

    assert time.process_time() - begun < 1


@given(st.binary(max_size=400))
def test_any_bytes_give_a_verdict(raw: bytes) -> None:
    assert isinstance(parse_request("messages", raw), ParsedRequest | FileRefusal)


texts = st.text(st.characters(exclude_categories=["Cs"]))
optional = st.none() | texts


@given(
    st.builds(
        SendMessage,
        chat_jid=texts.map(Jid),
        text=texts,
        timestamp=optional,
        reply_to=optional,
        sender=optional,
        attachments=st.none() | st.lists(texts, max_size=3).map(tuple),
    )
)
def test_what_the_container_writes_the_host_reads_and_both_readers_agree(request_: SendMessage) -> None:
    line = to_json(request_)

    verdict = parse_request("messages", line.encode())

    assert isinstance(verdict, ParsedRequest)
    assert verdict.request == request_ == from_json(SendMessage, line)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.none()
            | texts
            | st.integers(-(10**6), 10**6)
            | st.booleans()
            | st.lists(texts, max_size=1)
            for name in ("type", "chatJid", "text", "timestamp", "replyTo", "sender", "attachments")
        },
    )
)
def test_both_readers_refuse_the_same_fields(plain: dict[str, object]) -> None:
    plain["type"] = "message"
    line = json.dumps(plain)
    try:
        expected: SendMessage | None = from_json(SendMessage, line)
    except WireError:
        expected = None

    verdict = parse_request("messages", line.encode())

    actual = verdict.request if isinstance(verdict, ParsedRequest) else None
    assert actual == (None if expected is None else replace(expected))
