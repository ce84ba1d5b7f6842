"""What Dovecote itself says in a chat."""

import string

import pytest

from orchestrator.core.wording import CATALOGUES, ENGLISH, Say, say

_OF_A_TASK = (
    Say.TASK_MISSED,
    Say.TASK_INTERRUPTED,
    Say.TASK_FAILED,
    Say.TASK_PAUSED,
    Say.TASK_UNREADABLE,
)
FACTS: dict[Say, dict[str, object]] = {
    Say.DELIVERY_FAILED: {"chat_name": "Garden"},
    Say.DELAYED_PREFIX: {"time": "14:05"},
    Say.STATUS_WAITING: {"count": 2},
    Say.STATUS_NEXT_TASK: {"title": "Water the plants", "time": "2026-11-30 09:00 (UTC)"},
    Say.TASK_PLANNED: {"number": 1, "title": "Water the plants", "time": "2026-11-30 09:00 (UTC)"},
    Say.TASK_RESTS: {"number": 1, "title": "Water the plants"},
    Say.TASKS_MORE: {"count": 3},
    **{each: {"title": "Water the plants"} for each in _OF_A_TASK},
}
INTERNALS = ["container", "docker", "agent", "error", "exception", "exit", "stdout", "json", "None", "_"]


@pytest.mark.parametrize("key", Say)
def test_there_is_an_english_sentence_for_everything_there_is_to_say(key: Say) -> None:
    assert say(key, "en", **FACTS.get(key, {})).strip()


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_catalogue_says_only_what_there_is_to_say_with_the_facts_there_are(language: str) -> None:
    for key, template in CATALOGUES[language].items():
        fields = {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}
        assert key in Say
        assert fields == set(FACTS.get(key, {})), key


@pytest.mark.parametrize("locale", ["en", "EN", "en-GB", "en_US.UTF-8", "xx", "", "C", "C.UTF-8"])
def test_a_language_that_is_not_known_is_english(locale: str) -> None:
    assert say(Say.STOPPED, locale) == ENGLISH[Say.STOPPED]


def test_facts_stand_in_the_sentence_as_they_are() -> None:
    assert "{chat} {0}" in say(Say.DELIVERY_FAILED, "en", chat_name="{chat} {0}")
    assert say(Say.DELAYED_PREFIX, "en", time="14:05") == "[from 14:05] "


def test_a_missing_fact_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        say(Say.DELAYED_PREFIX, "en")


@pytest.mark.parametrize("key", Say)
def test_no_sentence_speaks_of_internals(key: Say) -> None:
    sentence = say(key, "en", **FACTS.get(key, {}))

    assert [word for word in INTERNALS if word in sentence] == []
    assert len(sentence) < 200


@pytest.mark.parametrize("key", [Say.PARTIAL, Say.FAILED, Say.TIMED_OUT])
def test_who_is_left_without_an_answer_is_told_how_to_try_again(key: Say) -> None:
    assert "/retry" in say(key, "en")
