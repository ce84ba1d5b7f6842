"""Which open question an `/answer` is for, and what it says. Source: contracts.md section 6."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.questions import Question

_NAMED: Final = re.compile(r"#([0-9]{1,9})(?:\s+(.*))?", re.DOTALL)
_OPTION: Final = re.compile(r"([0-9]{1,9})[.)]?")


class Unclear(StrEnum):
    """Why an answer can't be taken."""

    NOT_OPEN = "not open"
    WHICH = "which question"
    EMPTY = "empty"
    NO_SUCH_OPTION = "no such option"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """An answer to one question. chosen: the place of the option, from 0; None for words of one's own."""

    question: Question
    text: str
    chosen: int | None


def read_answer(argument: str, asked: Sequence[Question]) -> ReadAnswer | Unclear:
    """What `2`, `free text` or `#12 2` answers. asked: the open questions of the chat, oldest first.

    Where several are open the answer has to name its own: a guess could allow what nobody meant to.
    """
    named = _NAMED.fullmatch(argument.strip())
    words = (named[2] or "" if named else argument).strip()
    open_ones = [each for each in asked if named is None or each.number == int(named[1])]
    if not open_ones:
        return Unclear.NOT_OPEN
    if len(open_ones) > 1:
        return Unclear.WHICH
    question = open_ones[0]
    if not words:
        return Unclear.EMPTY
    place = _OPTION.fullmatch(words)
    if question.options and place is not None:
        chosen = int(place[1]) - 1
        if not 0 <= chosen < len(question.options):
            return Unclear.NO_SUCH_OPTION
        return ReadAnswer(question=question, text=question.options[chosen], chosen=chosen)
    folded = [option.casefold() for option in question.options]
    if words.casefold() in folded:
        chosen = folded.index(words.casefold())
        return ReadAnswer(question=question, text=question.options[chosen], chosen=chosen)
    return ReadAnswer(question=question, text=words, chosen=None)
