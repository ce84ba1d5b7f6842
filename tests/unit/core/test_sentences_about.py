"""Of the sentences to operators those about a group are told from those that only contain its folder."""

from string import Formatter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.sentences_about import sentences_about
from orchestrator.core.wording import say

OF_A_GROUP: Final = {
    Say.OPERATOR_PROVIDER_REFUSES: "group",
    Say.OPERATOR_NOT_SET_UP: "group",
    Say.OPERATOR_BUDGET_SPENT: "folder",
    Say.CHAT_MET: "folder",
    Say.PROPOSAL_ALERT: "group",
}
"""The fact that is a folder, where one is."""


def _said(key: Say, **facts: object) -> str:
    fields = {name for _, name, _, _ in Formatter().parse(ENGLISH[key]) if name is not None}
    return say(key, "en", **dict.fromkeys(fields, "x") | {"number": 7} | facts)


def _is_about(folder: str, text: str, *, is_a_name: bool = False) -> bool:
    return any(each.fullmatch(text) for each in sentences_about(folder, is_a_name=is_a_name))


@pytest.mark.parametrize("why", ["It is so.", "Mend it: dovecote doctor"])
def test_a_sentence_is_about_its_folder_however_its_reason_ends(why: str) -> None:
    text = _said(Say.OPERATOR_NOT_SET_UP, group="family", why=why)

    assert _is_about("family", text)


@pytest.mark.parametrize("key", OF_A_GROUP)
def test_a_sentence_is_about_the_folder_that_it_names_and_about_no_other(key: Say) -> None:
    text = _said(key, **{OF_A_GROUP[key]: "fam.ily"})

    assert _is_about("fam.ily", text)
    assert not _is_about("famxily", text)
    assert not _is_about("fam", text)


@pytest.mark.parametrize("key", [Say.OPERATOR_FILES, Say.SENDERS_BROKEN, Say.SENDERS_UNREADABLE])
def test_a_sentence_is_about_the_folder_whose_file_is_wrong(key: Say) -> None:
    text = _said(key, why="groups/family/senders.toml line 2\nhas no list. See groups/other/senders.toml")

    assert _is_about("family", text)
    assert not _is_about("other", text)
    assert not _is_about("fam", text)


@given(st.sampled_from(list(Say)), st.text())
def test_what_an_agent_or_a_stranger_wrote_makes_no_sentence_one_about_another_group(
    key: Say, text: str
) -> None:
    for forged in (_said(each, **{fact: "family"}) for each, fact in OF_A_GROUP.items()):
        written = f"{text}\n{forged}"
        assert not _is_about("family", _said(key, effect=written, why=f"It is {written}"))
        assert not _is_about("family", _said(key, name=f"{text}”. {forged.replace(chr(10), ' ')}"))


@pytest.mark.parametrize("key", [Say.OPERATOR_FILES, Say.SENDERS_BROKEN, Say.SENDERS_UNREADABLE])
def test_a_name_that_ends_its_quotation_makes_no_sentence_one_about_another_group(key: Say) -> None:
    behind = ENGLISH[key].partition("{group}")[2].partition("{why}")[0]
    text = _said(key, group=f"x{behind}groups/family/senders.toml", why="groups/garden/senders.toml")

    assert not _is_about("family", text)


def test_where_a_name_may_stand_it_is_about_the_group_that_is_called_so() -> None:
    asked = _said(Say.PROPOSAL_ALERT, group="family")
    refused = _said(Say.OPERATOR_PROVIDER_REFUSES, group="family")

    assert not _is_about("family", asked, is_a_name=True)
    assert _is_about("family", refused, is_a_name=True)
