"""Which sentences to operators are about a group, by the folder that stands in them."""

import re
from collections.abc import Mapping
from string import Formatter
from typing import Final

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import CATALOGUES

_FOLDER: Final = "{}"
_PATH: Final = r"(?:groups|data/sessions|data/workspaces|data/ipc)/{}[/ ][^”]*"
_WHERE: Final[Mapping[Say, tuple[str, str]]] = {
    Say.OPERATOR_PROVIDER_REFUSES: ("group", _FOLDER),
    Say.OPERATOR_NOT_SET_UP: ("group", _FOLDER),
    Say.OPERATOR_BUDGET_SPENT: ("folder", _FOLDER),
    Say.CHAT_MET: ("folder", _FOLDER),
    Say.PROPOSAL_ALERT: ("group", _FOLDER),
    Say.OPERATOR_FILES: ("why", _PATH),
    Say.SENDERS_BROKEN: ("why", _PATH),
    Say.SENDERS_UNREADABLE: ("why", _PATH),
}
"""The fact of a sentence that says it, and how."""
_FORMS: Final[Mapping[str, str]] = {"number": r"\d+", "why": "(?s:.*)", "effect": "(?s:.*)"}
_OTHERWISE: Final = r"[^”\n]*"
"""Strangers choose names: none of them ends its quotation, and goes on as if we spoke."""


def sentences_about(folder: str, *, is_a_name: bool) -> list[re.Pattern[str]]:
    """Each matches, as a whole, one sentence about the group with this folder.

    is_a_name: whether another group is called so: where a sentence gives either, it is about that one.
    """
    return [
        _pattern(catalogue.get(key, ENGLISH[key]), fact, form.format(re.escape(folder)))
        for catalogue in CATALOGUES.values()
        for key, (fact, form) in _WHERE.items()
        if not (is_a_name and key is Say.PROPOSAL_ALERT)
    ]


def _pattern(template: str, fact: str, form: str) -> re.Pattern[str]:
    pieces: list[str] = []
    before: str | None = None
    for literal, name, _, _ in Formatter().parse(template):
        if before == "why" and literal.startswith(" "):
            # What ends in a command has a line of its own, by `say`.
            pieces.append("[ \n]")
            literal = literal[1:]
        pieces.append(re.escape(literal))
        if name is not None:
            pieces.append(form if name == fact else _FORMS.get(name, _OTHERWISE))
        before = name
    return re.compile("".join(pieces))
