"""Every sentence that Dovecote itself says to people in a chat.

A catalogue is a table of templates for one language, by the keys of `sentence_keys`; another language is
another module beside `english`.

What is said inside a container is not here, since that cannot import `core`: words of drivers, and `CUT_NOTE`
of `contracts.wire.framing`, which is in a text before anybody knows its chat's language.
"""

from collections.abc import Mapping
from typing import Final

from orchestrator.contracts.errors import SENTENCE_ENDS
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say

CATALOGUES: Final[Mapping[str, Mapping[Say, str]]] = {"en": ENGLISH}
"""Language to sentences. What a catalogue lacks is said in English."""


def knows_language(locale: str) -> bool:
    """Whether there are sentences in the language of `locale`."""
    return _language(locale) in CATALOGUES


def say(key: Say, locale: str, **facts: object) -> str:
    """The sentence in the language of `locale`, such as `en` or `pt_BR.UTF-8`; English if it is not known.

    facts: every field of the template; their values stand in the sentence as they are.
    """
    template = CATALOGUES.get(_language(locale), ENGLISH).get(key, ENGLISH[key])
    why = facts.get("why")
    if isinstance(why, str) and not why.rstrip().endswith(SENTENCE_ENDS):
        # It ends in a command, which a full stop would spoil for those who copy it.
        template = template.replace("{why} ", "{why}\n")
    return template.format(**facts)


def _language(locale: str) -> str:
    return locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
