"""What an operator reads before he confirms a wish: all of it, and no line that could be ours."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.chat.splitting import split_text
from orchestrator.core.text_cleaning import clean_text, show_unseen
from orchestrator.core.wish_text import QUOTE, request_facts, wish_text


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([("chat", "1@g.us")], "> chat: 1@g.us"),
        ([("text", "one\ntwo")], "> text: one\n>   two"),
        ([("text", "one\r\n\ntwo\n")], "> text: one\n>\n>   two\n>"),
        ([("text", "one\u2028two\u2029three")], "> text: one\n>   two\n>   three"),
        ([("a", ""), ("b", "x")], "> a:\n> b: x"),
        ([("text", "a\x1b[2Kb\u202ec\td")], "> text: a[2Kbc    d"),
        ([("text", "a\u200bb\U000e0041")], "> text: a[U+200B]b[U+E0041]"),
    ],
)
def test_each_line_of_an_effect_is_quoted(facts: list[tuple[str, str]], expected: str) -> None:
    assert wish_text(facts) == expected


@given(st.text(max_size=3_000), st.integers(min_value=300, max_value=1_000))
def test_however_it_is_cut_every_line_is_quoted_and_nothing_visible_is_lost(text: str, limit: int) -> None:
    effect = wish_text([("text", text)])

    parts = split_text(effect, limit)

    lines = [line for part in parts for line in part.split("\n")]
    assert [line for line in lines if line and not line.startswith(">")] == []
    shown = "".join(line.removeprefix(">") for line in effect.removeprefix(f"{QUOTE}text:").split("\n"))
    seen = [show_unseen(line) for line in re.split("[\n\u2028\u2029]", clean_text(text))]
    assert "".join(shown.split()) == "".join("".join(seen).split())


def test_every_field_is_shown_but_what_says_nothing() -> None:
    plain = {
        "type": "schedule_task",
        "requestId": "r",
        "timestamp": "2026",
        "scheduleValue": "0 9 * * *",
        "notify": False,
        "unheardOf": 7,
        "attachments": ["a\nb", "c"],
        "absent": None,
    }

    assert request_facts(plain) == [
        ("when", "0 9 * * *"),
        ("tells the chat", "no"),
        ("unheardOf", "7"),
        ("attachments", "a b, c"),
    ]
