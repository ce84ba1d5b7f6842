"""When a message wakes the assistant."""

import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import ErrorCode, InvalidRequest
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.contracts.records.messages import Quoted
from orchestrator.core.chat.trigger import Trigger, compile_trigger, default_trigger, plain_word, wakes
from tests.unit.core.chat.samples import group


def at_start(trigger: str, name: str = "Andy") -> Trigger:
    return compile_trigger(trigger, assistant_name=name, position=TriggerPosition.START)


def anywhere(trigger: str) -> Trigger:
    return compile_trigger(trigger, assistant_name="Andy", position=TriggerPosition.ANYWHERE)


@pytest.mark.parametrize(
    "text",
    [
        "@Andy",
        "@Andy hello",
        "@ANDY hello",
        "@andy, hello",
        "@Andy!",
        "@Andy\nhello",
        "@Andy's turn",
        "@Andy-hello",
        "@Andy@Bob",
        "@Andy😀",
        "@Andy。",
        "@Andy\u203fhello",
        "  \n\t@Andy hello",
        "\u200b\u200e\ufeff@Andy",
        " \u2060 \u00a0@Andy",
        "@Andy\u200bx",
    ],
    ids=ascii,
)
def test_the_trigger_counts_at_the_start_with_a_boundary_behind_it(text: str) -> None:
    assert at_start("@Andy").matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Andy",
        "@And",
        "@Andyx",
        "@Andyö",
        "@Andyд",
        "@Andy好",
        "@Andy1",
        "@Andy\u0661",
        "@Andy_",
        "@Andy\u0301",
        "@Andyा",
        "hello @Andy",
        "x\u200b@Andy",
        "@ Andy",
    ],
    ids=ascii,
)
def test_another_word_or_another_place_does_not_count(text: str) -> None:
    assert not at_start("@Andy").matches(text)


# Characters that this Python does not know yet may be letters to the newer tables of `regex`.
@given(st.characters(exclude_categories=["Cn", "Cs"]))
def test_the_boundary_is_by_the_unicode_category_of_the_next_character(sign: str) -> None:
    category = unicodedata.category(sign)
    is_part_of_a_word = category[0] in "LM" or category == "Nd" or sign == "_"
    # A letter that is joined with a mark by the normal form is another letter.
    is_joined = len(unicodedata.normalize("NFC", f"y{sign}")) == 1

    assert at_start("@Andy").matches(f"@Andy{sign} x") is not (is_part_of_a_word or is_joined)


def test_letters_are_compared_in_their_normal_form_and_without_case() -> None:
    composed, decomposed = "@Zoë", "@Zoe\u0308"

    assert at_start(composed).matches(f"{decomposed} hi")
    assert at_start(decomposed).matches(f"{composed.upper()} hi")
    assert at_start("@Straße").matches("@STRASSE hi")


@pytest.mark.parametrize(
    "name", ["C++", "J.A.R.V.I.S.", "Mr (Big)", "what?", "a|b", "$", "Dr. Who", "[x]", "O'\"x"]
)
def test_j11_the_default_trigger_is_a_plain_word_whatever_the_name_is(name: str) -> None:
    trigger = at_start(default_trigger(name), name=name)

    assert trigger.matches(f"@{name} hello")
    assert not trigger.matches(f"@{name}x hello")
    assert not trigger.matches(f"@x{name} hello")


def test_the_default_trigger_is_the_name_behind_an_at_sign() -> None:
    assert default_trigger("Andy") == "@Andy"


@pytest.mark.parametrize(
    ("expression", "text", "is_match"),
    [
        (r"^@Andy\b", "@andy hello", True),
        (r"^@Andy\b", "@andyx", False),
        (r"^@Andy\b", "hi @Andy", False),
        (r"(hey|hello) bot", "Hello Bot there", True),
        (r"(hey|hello) bot", "oh hello bot", False),
        (r"\p{Greek}+!", "  αβγ!", True),
    ],
)
def test_anything_else_is_an_expression_as_it_stands(expression: str, text: str, is_match: bool) -> None:
    assert at_start(expression).matches(text) is is_match


@pytest.mark.parametrize(
    ("trigger", "text", "is_match"),
    [
        ("@Andy", "please, @andy, help", True),
        ("@Andy", "(@Andy)", True),
        ("@Andy", "@Andy", True),
        ("@Andy", "please @Andyx or @Andrew", False),
        ("@Andy", "@Andyx then @Andy", True),
        ("@Andy", "write to bob@andy.example", False),
        ("@Zoë", "hi @Zoe\u0308", True),
        ("^hi", " \u200bhi there", True),
        ("@小明", "你好@小明!", True),
        ("Andy", "so Andy, what now", True),
        ("Andy", "Brandy", False),
        ("Andy", "日本Andy", False),
        (r"help\s+me", "could you HELP  me", True),
    ],
)
def test_j4_a_trigger_may_count_anywhere(trigger: str, text: str, is_match: bool) -> None:
    assert anywhere(trigger).matches(text) is is_match


@pytest.mark.parametrize(
    ("trigger", "text", "rest"),
    [
        ("@Andy", "  @andy  /stop", "  /stop"),
        ("@Andy", "@Andy", ""),
        ("@Andy", "hello", None),
        (r"^hey\b", "hey you", " you"),
    ],
)
def test_what_follows_the_trigger_is_given(trigger: str, text: str, rest: str | None) -> None:
    assert at_start(trigger).rest(text) == rest
    assert anywhere(trigger).rest(text) == rest


@pytest.mark.parametrize(
    "trigger",
    [
        "",
        "  ",
        "@",
        "@\u200b",
        "(",
        "[a",
        "*x",
        ".*",
        "x?",
        "a\nb",
        "a\x00",
        "x" * 501,
        "(?:(?:a{999}){999}){999}",
        "a{,99999999}",
        "(?R)",
    ],
    ids=ascii,
)
def test_a_trigger_that_cannot_work_is_refused_with_a_reason_and_a_way_out(trigger: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        at_start(trigger)

    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert "trigger" in caught.value.message
    assert caught.value.suggestion


@pytest.mark.parametrize(
    "expression",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(?:a*)*b",
        "(.*)*,(.*)*;",
        "(a?){50}c{50}",
        "(?P<x>a+)(?P=x)+c",
        "(?:(?=a*)a)*?c",
        "(?:cddcddcddcdd){e<=5}",
    ],
)
@pytest.mark.parametrize("position", TriggerPosition)
def test_an_expression_that_runs_away_is_stopped_and_counts_as_no_match(
    expression: str, position: TriggerPosition
) -> None:
    trigger = compile_trigger(f"x?{expression}.", assistant_name="Andy", position=position)

    started = time.thread_time()
    is_match = trigger.matches("a" * 65_535 + "b")
    took_s = time.thread_time() - started

    assert not is_match
    assert took_s < 1


@given(st.text(max_size=20), st.text(max_size=40), st.sampled_from(TriggerPosition))
def test_any_text_is_a_trigger_or_refused_and_then_matches_or_not(
    trigger: str, text: str, position: TriggerPosition
) -> None:
    try:
        compiled = compile_trigger(trigger, assistant_name="Andy", position=position)
    except InvalidRequest:
        return

    assert compiled.matches(text) in (True, False)


def quoted(*, is_ours: bool) -> Quoted:
    return Quoted(message_id=MessageId("q"), sender_name="Andy", text="earlier", is_ours=is_ours)


def test_without_a_required_trigger_every_message_wakes() -> None:
    assert wakes(replace(group(), requires_trigger=False), "hello", quoted=None)


def test_in_the_main_group_every_message_wakes() -> None:
    assert wakes(replace(group(), is_main=True), "", quoted=None)


def test_else_only_the_groups_own_trigger_wakes() -> None:
    other = replace(group(), trigger="@Bob", assistant_name="Bob")

    assert wakes(group(), "@Andy hi", quoted=None)
    assert not wakes(group(), "@Bob hi", quoted=None)
    assert wakes(other, "@Bob hi", quoted=None)


def test_j4_the_position_of_the_group_counts() -> None:
    somewhere = replace(group(), trigger_position=TriggerPosition.ANYWHERE)

    assert wakes(somewhere, "hi @Andy", quoted=None)
    assert not wakes(group(), "hi @Andy", quoted=None)


@pytest.mark.parametrize("reply_triggers", [True, False])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_reply_wakes_if_it_answers_us_and_the_group_wants_it(reply_triggers: bool, is_ours: bool) -> None:
    asked = replace(group(), reply_triggers=reply_triggers)

    assert wakes(asked, "yes", quoted=quoted(is_ours=is_ours)) is (reply_triggers and is_ours)


@pytest.mark.parametrize(
    ("trigger", "name", "word"),
    [
        pytest.param("@Andy", "Andy", "@Andy", id="the default"),
        pytest.param(" Hey you ", "Andy", "Hey you", id="another word, less the space around it"),
        pytest.param("@Rene\u0301", "Andy", "@Ren\u00e9", id="composed"),
        pytest.param("@A. (I.)", "A. (I.)", "@A. (I.)", id="the default, whatever characters the name has"),
        pytest.param("^@(Foo|Bar)\\b", "Andy", None, id="an expression"),
    ],
)
def test_a_trigger_is_told_as_a_word_only_if_it_is_one(trigger: str, name: str, word: str | None) -> None:
    assert plain_word(trigger, assistant_name=name) == word
