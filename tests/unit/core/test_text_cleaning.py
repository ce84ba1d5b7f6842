"""Texts and names made safe."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.text_cleaning import cap_text, clean_name, clean_text, show_unseen

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ANY_TEXT = st.text(st.characters()) | st.text(
    st.sampled_from([*BIDI, "\r", "\n", "\t", "\x00", "\x85", "\ud800", "a", " "])
)


@given(ANY_TEXT)
def test_no_control_character_but_newline_and_tab_gets_through(text: str) -> None:
    cleaned = clean_text(text)

    assert {sign for sign in cleaned if unicodedata.category(sign) == "Cc"} <= {"\n", "\t"}
    assert not set(cleaned) & set(BIDI)
    cleaned.encode()


@given(ANY_TEXT)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)
    assert clean_name(clean_name(text)) == clean_name(text)


@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=BIDI, include_characters="\n\t")
    )
)
def test_a_clean_text_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb", "ab"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\x9bb\x7fc\u0085d", "abcd"),
        ("abc\u202etxt.exe", "abctxt.exe"),
        ("a\ud83db", "a\ufffdb"),
        ("tab\tstays", "tab\tstays"),
        ("\u200fאבג\u200e", "\u200fאבג\u200e"),
        ("👨\u200d👩", "👨\u200d👩"),
    ],
    ids=["line end", "return", "terminal", "c1", "override", "surrogate", "tab", "direction marks", "joiner"],
)
def test_a_text_is_cleaned(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("  Ann \n Lee\t", "Ann Lee"),
        ("Ann\u2028Lee", "Ann Lee"),
        ("a \x00 b", "a b"),
        ("\u202eevil", "evil"),
        ("x" * 101, "x" * 100),
        ("x" * 99 + " yz", "x" * 99),
        ("\x00", ""),
    ],
)
def test_a_name_is_one_clean_line_of_at_most_100_characters(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned


@given(st.text(), st.integers(0, 60))
def test_a_capped_text_keeps_the_limit_and_begins_as_the_text_does(text: str, max_bytes: int) -> None:
    capped = cap_text(text, max_bytes, note=" [cut]")

    assert len(capped.encode()) <= max(max_bytes, 0)
    assert text.startswith(capped.removesuffix(" [cut]"))
    assert cap_text(capped, max_bytes, note=" [cut]") == capped


@given(st.text())
def test_a_text_within_the_limit_is_left_as_it_is(text: str) -> None:
    assert cap_text(text, len(text.encode())) == text


def test_a_text_over_the_limit_ends_in_the_note() -> None:
    assert cap_text("€€€€", 11, note="[cut]") == "€€[cut]"
    assert cap_text("x" * 100, 80).startswith("x")
    assert "cut" in cap_text("x" * 100, 80)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("see you \U000e0053\U000e0045", "see you [U+E0053][U+E0045]"),
        ("no\u200b\u2060\ufeff", "no[U+200B][U+2060][U+FEFF]"),
        ("\u3164\u2800\u00ad", "[U+3164][U+2800][U+00AD]"),
        ("a\ufe01b\U000e0100", "a[U+FE01]b[U+E0100]"),
        ("a\u200d\u200c\u200d", "a[U+200D][U+200C][U+200D]"),
        ("\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469", "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u2013 caf\u0065\u0301", None),
    ],
)
def test_what_nobody_can_see_is_shown_and_what_words_need_stays(text: str, seen: str | None) -> None:
    assert show_unseen(text) == (text if seen is None else seen)


@given(st.characters(categories=["Co"]))
def test_a_character_of_private_use_is_shown(sign: str) -> None:
    assert show_unseen(sign) == f"[U+{ord(sign):04X}]"
