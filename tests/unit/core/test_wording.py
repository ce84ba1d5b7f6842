"""What Dovecote itself says in a chat."""

import string

import pytest

from orchestrator.core.chat.slash_words import SLASH_WORDS
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import CATALOGUES, say

_OF_A_TASK = (
    Say.TASK_MISSED,
    Say.TASK_INTERRUPTED,
    Say.TASK_FAILED,
    Say.TASK_PAUSED,
    Say.TASK_UNREADABLE,
)
_WISH: dict[str, object] = {"number": 12, "wish": "run a task of another group"}
_BUDGET: dict[str, object] = {
    "amount": "80,000 of 100,000 tokens a day",
    "until": "2026-11-30 00:00 (UTC)",
}
FACTS: dict[Say, dict[str, object]] = {
    **{
        each: {**_WISH, "group": "Garden", "effect": "> task: t-1"}
        for each in (Say.PROPOSAL_ASKED, Say.PROPOSAL_ALERT)
    },
    Say.WORKSPACE_ASKED: {"who": "program builds", "path": "/srv/projects"},
    **{each: _WISH for each in (Say.PROPOSAL_DONE, Say.PROPOSAL_DECLINED, Say.PROPOSAL_EXPIRED)},
    Say.PROPOSAL_FAILED: {**_WISH, "why": "There is no such task."},
    **{
        each: {"wish": "run a task of another group"}
        for each in (
            Say.PROPOSAL_GRANTED_HERE,
            Say.PROPOSAL_FAILED_HERE,
            Say.PROPOSAL_DECLINED_HERE,
            Say.PROPOSAL_EXPIRED_HERE,
        )
    },
    **{each: {"number": 12} for each in (Say.PROPOSAL_NOT_OPEN, Say.STATUS_PROPOSAL)},
    **{
        each: {"number": 12, "name": "Choir", "trigger": "@Assistant", "effect": "> chat: 1203@g.us"}
        for each in (Say.CHAT_ASKED, Say.CHAT_ALERT)
    },
    Say.CHAT_MET: {"name": "Choir", "trigger": "@Assistant", "folder": "choir"},
    Say.CHAT_LEFT: {"name": "Choir"},
    Say.PROPOSAL_WHICH: {"word": "yes", "number": 12, "numbers": "12, 13"},
    Say.HELPER_LOST: {"helpers": "helper 1 (“count to 60”)"},
    Say.HELPERS_LOST: {"helpers": "helper 1 (“count to 60”), “look it up”"},
    **{
        each: {"word": "new"}
        for each in (Say.ONLY_OPERATORS, Say.ONLY_OPERATORS_AT_TERMINAL, Say.ONLY_IN_MAIN_CHAT)
    },
    Say.HELPER_STOPPED: {"helpers": "helper 1 (“count to 60”)"},
    Say.HELPERS_STOPPED: {"helpers": "helper 1 (“count to 60”), “look it up”"},
    Say.DELIVERY_FAILED: {"chat_name": "Garden"},
    Say.DELAYED_PREFIX: {"time": "14:05"},
    Say.FILES_BYTES: {"place": "groups/garden/workspace", "mib": "5,120"},
    Say.FILES_COUNT: {"place": "groups/garden/workspace", "entries": "100,000"},
    Say.FILES_DEPTH: {"place": "groups/garden/workspace", "depth": 200},
    Say.FILES_EXCHANGED: {"place": "groups/garden/workspace"},
    Say.OPERATOR_FILES: {"group": "Garden", "why": "It is full."},
    Say.OPERATOR_BOX: {"group": "Garden", "why": "It is full."},
    Say.OPERATOR_NOT_SET_UP: {"group": "garden", "why": "groups/garden/AGENT.md line 2 is odd."},
    Say.OPERATOR_DISK_LOW: {"free_mib": "400", "floor_mib": "500"},
    Say.OPERATOR_STOPPED_FOR_ROOM: {"group": "Garden"},
    Say.STATUS_WAITING: {"count": 2},
    Say.STATUS_USED: {"tokens": "12,000"},
    Say.STATUS_USED_WITH_COST: {"tokens": "12,000", "usd": "1.20"},
    Say.OPERATOR_PROVIDER_REFUSES: {"provider": "claude", "group": "garden"},
    Say.BUDGET_NEAR: _BUDGET,
    Say.BUDGET_SPENT: _BUDGET,
    Say.BUDGET_TOKENS: {"used": "80,000", "limit": "100,000"},
    Say.BUDGET_USD: {"used": "8.00", "limit": "10.00"},
    Say.OPERATOR_BUDGET_NEAR: {**_BUDGET, "group": "Garden"},
    Say.OPERATOR_BUDGET_SPENT: {**_BUDGET, "group": "Garden", "folder": "garden"},
    Say.OPERATOR_BUDGET_AGAIN: {"group": "Garden"},
    Say.OPERATOR_UNPRICED: {"group": "Garden", "model": "m-1", "provider": "claude"},
    Say.STATUS_NEXT_TASK: {"title": "Water the plants", "time": "2026-11-30 09:00 (UTC)"},
    Say.TASK_PLANNED: {"number": 1, "title": "Water the plants", "time": "2026-11-30 09:00 (UTC)"},
    Say.TASK_RESTS: {"number": 1, "title": "Water the plants"},
    Say.TASKS_MORE: {"count": 3},
    Say.SENDERS_BROKEN: {"group": "Garden", "why": "senders.toml line 1: ?"},
    Say.SENDERS_UNREADABLE: {"group": "Garden", "why": "senders.toml line 1: ?"},
    Say.SENDERS_MENDED: {"group": "Garden"},
    Say.CHANNEL_DOWN: {"channel": "WhatsApp", "why": "no route"},
    Say.CHANNEL_UNLINKED: {"channel": "WhatsApp", "why": "gone", "command": "dovecote whatsapp link"},
    Say.CHANNEL_WELL: {"channel": "WhatsApp"},
    Say.BOUND_SENDER: {"name": "Ann", "time": "14:05"},
    **{each: {"time": "14:05"} for each in (Say.BOUND_CHAT, Say.BOUND_BOTS)},
    **{each: {"number": 12} for each in (Say.QUESTION, Say.STATUS_QUESTION)},
    **{each: {"number": 12} for each in (Say.QUESTION_WITHDRAWN, Say.QUESTION_EXPIRED)},
    Say.ANSWER_TAKEN: {"answer": "yes"},
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
def test_h11_no_sentence_speaks_of_internals(key: Say) -> None:
    sentence = say(key, "en", **FACTS.get(key, {}))

    assert [word for word in INTERNALS if word in sentence] == []
    assert max(map(len, sentence.splitlines())) < 200


@pytest.mark.parametrize("key", [Say.PARTIAL, Say.FAILED, Say.TIMED_OUT])
def test_who_is_left_without_an_answer_is_told_how_to_try_again(key: Say) -> None:
    assert "/retry" in say(key, "en")


def test_help_names_every_word_there_is() -> None:
    lines = ENGLISH[Say.HELP].splitlines()

    assert [word for word in SLASH_WORDS if not any(f"/{word} " in f"{line} " for line in lines)] == []


@pytest.mark.parametrize("key", [each for each in Say if "{why} " in ENGLISH[each]])
@pytest.mark.parametrize(
    ("why", "between"), [("It is gone.", " "), ("Run: dovecote secret set x/api_key", "\n")]
)
def test_a_sentence_behind_a_reason_begins_apart_from_it(key: Say, why: str, between: str) -> None:
    sentence = say(key, "en", **{**FACTS[key], "why": why})

    before, _, after = sentence.partition(why)
    assert before
    assert after[0] == between
    assert after[1].isupper()
