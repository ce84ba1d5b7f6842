"""Words to the orchestrator itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.core.chat.slash_words import SLASH_WORDS, SlashWord, slash_word
from orchestrator.core.chat.trigger import compile_trigger

ANDY = compile_trigger("@Andy", assistant_name="Andy", position=TriggerPosition.START)


@pytest.mark.parametrize("name", ["status", "stop", "new", "tasks", "retry", "yes", "no", "answer", "help"])
def test_every_word_of_the_contract_is_known(name: str) -> None:
    assert slash_word(f"/{name}", None) == SlashWord(name=name)
    assert name in SLASH_WORDS


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/yes 12", SlashWord(name="yes", argument="12")),
        ("  /STOP  ", SlashWord(name="stop")),
        ("\u200e/stop", SlashWord(name="stop")),
        ("/answer\nall of\nthis ", SlashWord(name="answer", argument="all of\nthis")),
        ("@Andy /retry", SlashWord(name="retry")),
        ("@andy   /Answer 3 blue", SlashWord(name="answer", argument="3 blue")),
        ("@Andy, /stop", None),
        ("/stopp", None),
        ("/stop!", None),
        ("/stop/now", None),
        ("stop", None),
        ("/ stop", None),
        ("//stop", None),
        ("please /stop", None),
        ("@Bob /stop", None),
        ("@Andy @Andy /stop", None),
        ("/", None),
        ("", None),
    ],
)
def test_only_a_whole_word_at_the_start_or_behind_the_trigger_counts(
    text: str, word: SlashWord | None
) -> None:
    assert slash_word(text, ANDY) == word


def test_without_a_trigger_the_word_must_come_first() -> None:
    assert slash_word("@Andy /stop", None) is None


@given(st.text())
def test_a_text_that_holds_no_slash_is_never_a_word(text: str) -> None:
    assert slash_word(text.replace("/", ""), ANDY) is None


@given(st.sampled_from(SLASH_WORDS), st.text())
def test_an_argument_is_what_follows_trimmed(name: str, argument: str) -> None:
    assert slash_word(f"/{name} {argument}", None) == SlashWord(name=name, argument=argument.strip())
