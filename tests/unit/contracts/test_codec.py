"""JSON on the wire and back."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import (
    Wire,
    WireError,
    camel,
    from_json,
    from_plain,
    parse_json,
    to_json,
    to_plain,
    without_lone_surrogates,
)
from orchestrator.contracts.wire.container_io import Usage


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf(Wire):
    """A part."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Wire):
    """One field of every form there is on the wire."""

    chat_jid: Jid
    count: int = 0
    share: float = 0.0
    is_main: bool = False
    colour: Colour = Colour.RED
    words: tuple[str, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    first_leaf: Leaf | None = None
    limits: Mapping[str, object] | None = None
    mounts: Mapping[str, str] | None = None
    either: int | str = 0


TEXTS = st.text()
INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
LEAVES = st.builds(Leaf, name=TEXTS)
TREES = st.builds(
    Tree,
    chat_jid=TEXTS.map(Jid),
    count=INTEGERS,
    share=st.floats(allow_nan=False, allow_infinity=False),
    is_main=st.booleans(),
    colour=st.sampled_from(Colour),
    words=st.lists(TEXTS, max_size=3).map(tuple),
    leaves=st.lists(LEAVES, max_size=3).map(tuple),
    first_leaf=st.none() | LEAVES,
    limits=st.none() | st.dictionaries(TEXTS, JSON_VALUES, max_size=3),
    mounts=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=3),
    either=INTEGERS | TEXTS,
)


@given(TREES)
def test_what_is_written_is_read_back_the_same(tree: Tree) -> None:
    text = to_json(tree)

    assert from_json(Tree, text) == tree
    assert from_json(Tree, text.encode()) == tree


@given(TREES)
def test_a_value_is_one_line_of_plain_json(tree: Tree) -> None:
    text = to_json(tree)

    assert "\n" not in text
    assert json.loads(text)["chatJid"] == tree.chat_jid


@pytest.mark.parametrize(
    ("name", "on_the_wire"),
    [
        ("text", "text"),
        ("group_folder", "groupFolder"),
        ("new_session_id", "newSessionId"),
        ("is_main", "isMain"),
    ],
)
def test_names_are_camel_case_on_the_wire(name: str, on_the_wire: str) -> None:
    assert camel(name) == on_the_wire


def test_a_class_may_give_its_own_names() -> None:
    usage = Usage(input_tokens=3, cost_usd=0.5)

    assert json.loads(to_json(usage)) == {"input_tokens": 3, "cost_usd": 0.5}
    assert from_json(Usage, '{"input_tokens": 3, "inputTokens": 4}') == Usage(input_tokens=3)


def test_what_is_none_is_left_out_and_null_reads_as_absent() -> None:
    tree = Tree(chat_jid=Jid("c"))

    assert "firstLeaf" not in json.loads(to_json(tree))
    assert from_json(Tree, '{"chatJid": "c", "firstLeaf": null, "count": null, "words": null}') == tree


def test_unknown_keys_are_passed_over() -> None:
    assert from_json(Leaf, '{"name": "a", "chat_jid": 1, "more": {"x": []}}') == Leaf(name="a")


WRONG = {
    "not json": "{",
    "empty": "",
    "a list": "[]",
    "a word": '"x"',
    "null": "null",
    "missing field": "{}",
    "null in a required field": '{"chatJid": null}',
    "number for text": '{"chatJid": 1}',
    "text for number": '{"chatJid": "c", "count": "1"}',
    "fraction for whole number": '{"chatJid": "c", "count": 1.0}',
    "bool for number": '{"chatJid": "c", "count": true}',
    "bool for fraction": '{"chatJid": "c", "share": true}',
    "number for bool": '{"chatJid": "c", "isMain": 1}',
    "unknown choice": '{"chatJid": "c", "colour": "green"}',
    "text for list": '{"chatJid": "c", "words": "abc"}',
    "wrong item": '{"chatJid": "c", "words": ["a", 1]}',
    "null item": '{"chatJid": "c", "words": [null]}',
    "list for object": '{"chatJid": "c", "firstLeaf": []}',
    "wrong inner field": '{"chatJid": "c", "leaves": [{"name": 1}]}',
    "list for map": '{"chatJid": "c", "limits": []}',
    "wrong map value": '{"chatJid": "c", "mounts": {"/a": 1}}',
    "none of several": '{"chatJid": "c", "either": []}',
    "nan": '{"chatJid": "c", "share": NaN}',
    "infinity": '{"chatJid": "c", "share": -Infinity}',
    "beyond a float": '{"chatJid": "c", "share": 1e999}',
    "one more than 64 bits hold": f'{{"chatJid": "c", "count": {2**63}}}',
    "one less than 64 bits hold": f'{{"chatJid": "c", "count": {-(2**63) - 1}}}',
    "number of 5,000 digits": f'{{"chatJid": "c", "count": {"9" * 5000}}}',
    "key twice": '{"chatJid": "c", "chatJid": "d"}',
    "too deep": '{"chatJid": "c", "limits": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_form_is_refused_with_a_short_reason(text: str) -> None:
    with pytest.raises(WireError) as caught:
        from_json(Tree, text)

    assert "Tree" in str(caught.value) or "Leaf" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_reason_names_the_field_as_it_is_on_the_wire() -> None:
    with pytest.raises(WireError, match=r"Tree\.words\[1\]: expected a text, got a whole number"):
        from_json(Tree, '{"chatJid": "c", "words": ["a", 1]}')


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    latin1, utf16 = '{"name": "ä"}'.encode("latin-1"), '{"name": "a"}'.encode("utf-16")

    for encoded in (latin1, utf16):
        with pytest.raises(WireError):
            from_json(Leaf, encoded)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert from_json(Leaf, b'\xef\xbb\xbf{"name": "a"}') == Leaf(name="a")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r'{"name": "\ud83d\ude00"}', "\U0001f600"),
        (r'{"name": "a\ud83dz"}', "a\ufffdz"),
        (r'{"name": "\uDE00"}', "\ufffd"),
        ('{"name": "\udcff"}', "\ufffd"),
        (r'{"name": "\\ud83d"}', r"\ud83d"),
    ],
)
def test_half_a_surrogate_pair_never_gets_in(text: str, name: str) -> None:
    assert from_json(Leaf, text) == Leaf(name=name)


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands() -> None:
    assert parse_json(r'[{"\ud800": ["\udfff", 1]}]') == [{"\ufffd": ["\ufffd", 1]}]


@given(st.text(st.characters(categories=["Cs", "Lu"])))
def test_what_is_written_can_always_be_encoded(text: str) -> None:
    written = to_json({"text": text}).encode()

    assert json.loads(written)["text"] == without_lone_surrogates(text)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_cannot_say_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json({"share": value})


@given(JSON_VALUES)
def test_any_json_value_makes_a_tree_or_a_wire_error(plain: object) -> None:
    try:
        tree = from_plain(Tree, {"chatJid": "c", "limits": plain, "either": plain, "leaves": plain})
    except WireError:
        return

    assert to_plain(tree)["chatJid"] == "c"


REQUEST_FIELDS = st.fixed_dictionaries(
    {"type": st.just("message"), "text": TEXTS | st.integers(), "chatJid": TEXTS | st.none()},
    optional={
        "timestamp": TEXTS | st.none() | st.integers(),
        "replyTo": TEXTS | st.none() | st.lists(TEXTS, max_size=1),
        "sender": TEXTS | st.none() | st.booleans(),
        "requestId": TEXTS | st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "unknown": JSON_VALUES,
    },
)


@given(REQUEST_FIELDS)
def test_the_doors_validation_and_ours_agree_on_a_request(plain: dict[str, object]) -> None:
    text = json.dumps(plain)
    try:
        expected = TypeAdapter(SendMessage).validate_json(text, strict=True)
    except ValidationError:
        with pytest.raises(WireError):
            from_json(SendMessage, text)
        return

    assert from_json(SendMessage, text) == expected
