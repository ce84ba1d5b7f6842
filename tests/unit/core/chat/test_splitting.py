"""A long text in parts that a channel takes."""

import re
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.chat.splitting import split_text

WORDS = st.text("abcdefgé好😀", min_size=1, max_size=30)
PROSE = st.lists(
    st.tuples(WORDS, st.sampled_from([" ", "\n", "\n\n", "  ", "\n    ", "\t"])), max_size=40
).map(lambda pairs: "".join(word + blank for word, blank in pairs))
CODE_LINES = st.lists(st.text("ab(){}= ", max_size=40), max_size=30).map("\n".join)
CODE = st.builds(
    "{0}{1}\n{2}\n{0}\n".format,
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "py", "c++"]),
    CODE_LINES,
)
DOCUMENTS = st.lists(PROSE.map(lambda text: text + "\n") | CODE, max_size=6).map("".join)


def without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


def without_fences(text: str) -> str:
    """All but the fence lines and blanks."""
    return without_blanks(
        "\n".join(line for line in text.split("\n") if not re.match(r" {0,3}(```|~~~)", line))
    )


def open_fence(text: str) -> str | None:
    """The fence that is still open at the end of `text`, by the rules of CommonMark."""
    fence: str | None = None
    for line in text.split("\n"):
        match = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if match is None:
            continue
        if fence is None:
            fence = match[1]
        elif match[1].startswith(fence) and not match[2].strip():
            fence = None
    return fence


@given(st.text(), st.integers(1, 40))
def test_every_part_keeps_the_limit_and_shows_something(text: str, limit: int) -> None:
    parts = split_text(text, limit)

    assert all(len(part) <= limit for part in parts)
    assert all(part.strip() for part in parts)


@given(st.text(st.characters(exclude_characters="`~")), st.integers(1, 40))
def test_nothing_but_blanks_is_lost_or_moved(text: str, limit: int) -> None:
    assert without_blanks("".join(split_text(text, limit))) == without_blanks(text)


@given(st.text(max_size=40), st.integers(40, 60))
def test_a_text_that_fits_is_left_as_it_is(text: str, limit: int) -> None:
    assert split_text(text, limit) == ([text] if text.strip() else [])


@given(DOCUMENTS, st.integers(40, 200))
def test_code_stays_fenced_in_every_part_and_all_is_kept(text: str, limit: int) -> None:
    parts = split_text(text, limit)

    assert all(len(part) <= limit for part in parts)
    assert all(part.strip() for part in parts)
    assert [open_fence(part) for part in parts] == [None] * len(parts)
    assert without_fences("\n".join(parts)) == without_fences(text)


@given(st.text(), st.integers(30, 60))
def test_no_character_as_a_person_sees_it_is_torn(text: str, limit: int) -> None:
    characters = regex.findall(r"\X", text)
    if any(len(character) > limit for character in characters) or re.search(r"[`~]{3}", text):
        return

    parts = split_text(text, limit)

    whole = [character for character in characters if character.strip()]
    assert [c for part in parts for c in regex.findall(r"\X", part) if c.strip()] == whole


@pytest.mark.parametrize(
    "character",
    ["e\u0301\u0323", "👨\u200d👩\u200d👧", "🇩🇪", "👍🏽", "각", "क्षि", "\u2764\ufe0f"],
    ids=["marks", "family", "flag", "skin", "hangul", "devanagari", "variation"],
)
def test_a_text_without_any_blank_is_cut_between_characters(character: str) -> None:
    parts = split_text(character * 20, 23)

    assert all(len(part) % len(character) == 0 for part in parts)
    assert "".join(parts) == character * 20


def test_a_character_longer_than_the_limit_is_cut_all_the_same() -> None:
    assert split_text("e" + "\u0301" * 9, 4) == ["e\u0301\u0301\u0301", "\u0301" * 4, "\u0301" * 2]


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("first one\n\nnext\nlines here", 16, ["first one", "next\nlines here"]),
        ("first one\nnext words here", 16, ["first one", "next words here"]),
        ("first one next words", 16, ["first one next", "words"]),
        ("see https://example.org/a/b", 24, ["see", "https://example.org/a/b"]),
        ("x" * 10, 4, ["xxxx", "xxxx", "xx"]),
        ("one\n\n\n\n\n\n\n\ntwo", 6, ["one", "two"]),
        ("- point\n  - deeper", 12, ["- point", "  - deeper"]),
        ("go 10\u00a0km", 6, ["go", "10\u00a0km"]),
        ("aaaa \u0301bbbb", 6, ["aaaa \u0301", "bbbb"]),
        ("aaaaa \u0301bbb", 6, ["aaaaa", " \u0301bbb"]),
        (" " * 50, 10, []),
    ],
    ids=[
        "paragraph",
        "line",
        "word",
        "long word",
        "no border",
        "blank lines",
        "indent",
        "no-break space",
        "blank with a mark",
        "blank with a mark at the border",
        "blank",
    ],
)
def test_a_text_is_cut_where_a_reader_would_pause(text: str, limit: int, parts: list[str]) -> None:
    assert split_text(text, limit) == parts


def test_a_far_away_paragraph_does_not_make_a_short_part() -> None:
    text = "Hi\n\n" + "word " * 30

    assert len(split_text(text, 60)[0]) > 30


def test_a_code_block_that_fits_into_a_part_is_kept_in_one_piece() -> None:
    text = "Some words before it.\n```py\nprint(1)\nprint(2)\n```\nand some after it"

    assert split_text(text, 40) == [
        "Some words before it.",
        "```py\nprint(1)\nprint(2)\n```",
        "and some after it",
    ]


def test_a_longer_code_block_is_closed_and_opened_again_with_its_language() -> None:
    text = "Look:\n```python title='x'\n" + "\n".join(f"    line {n}" for n in range(20)) + "\n```\nDone."

    parts = split_text(text, 128)

    assert parts[0].startswith("Look:\n```python title='x'\n    line 0\n")
    assert parts[0].endswith("\n```")
    assert parts[1].startswith("```python\n    line ")
    assert parts[-1].endswith("\n```\nDone.")
    assert [line for part in parts for line in part.split("\n") if "line" in line] == [
        f"    line {n}" for n in range(20)
    ]


def test_a_block_that_is_never_closed_is_closed_in_every_part() -> None:
    parts = split_text("```\n" + "code line\n" * 20, 60)

    assert len(parts) > 1
    assert all(part.startswith("```\n") and part.endswith("\n```") for part in parts)


def test_fences_that_would_fill_a_part_are_text() -> None:
    text = "```" + "x" * 40 + "\ncode\n```"

    parts = split_text(text, 16)

    assert all(len(part) <= 16 for part in parts)
    assert without_blanks("".join(parts)) == without_blanks(text)


@pytest.mark.parametrize(
    "unit",
    [
        *["x", "e\u0301", " ", "\n", "`", "```\n", "```\nx\n", "~~~\n~~~\n", "a b\n\n"],
        *["\U0001f1e9", "\U0001f1e9\u0301", " \u0301", "\u0301", "👨\u200d", "\u0600", "क\u094d"],
    ],
)
def test_splitting_64_kib_is_quick_whatever_it_holds(unit: str) -> None:
    text = unit * (64 * 1024 // len(unit.encode()))

    started = time.thread_time()
    split_text(text, 16_000)
    split_text(text, 4096)
    split_text(text, 50)

    assert time.thread_time() - started < 3


def test_a_row_of_flags_is_cut_between_flags_however_long_it_is() -> None:
    row = "🇩🇪" * 30

    parts = split_text("so: " + row, 15)

    assert "".join(parts[1:]) == row
    assert all(len(part) % 2 == 0 for part in parts[1:])


def test_a_mark_behind_a_flag_stays_with_it() -> None:
    assert split_text("🇩🇪\u20dd" * 3, 5) == ["🇩🇪\u20dd"] * 3
