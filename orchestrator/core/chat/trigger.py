"""Whether a message wakes the assistant. Source: contracts.md section 6.

A trigger is a plain word, to which the boundary is added, or a regular expression as it stands.
The `regex` package is used for its time limit: no pattern of an operator can hang the process.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final

import regex

from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.records.groups import Group, TriggerPosition
from orchestrator.contracts.records.messages import Quoted

MAX_TRIGGER_CHARS: Final = 500
MAX_REPEATS: Final = 10_000
MATCH_TIME_S: Final = 0.05
"""What one expression may take for one message; the event loop waits for it."""

_FLAGS: Final = regex.IGNORECASE | regex.FULLCASE | regex.VERSION0
_SYNTAX: Final = frozenset("\\^$.|?*+()[]{}")
_NOT_IN_A_WORD: Final = r"(?![\p{L}\p{M}\p{Nd}_])"
_NOT_BEHIND_A_WORD: Final = r"(?<![\p{L}\p{M}\p{Nd}_])"
# Before a sign such as @ only what can be the name in an e-mail address: scripts without spaces
# between words put a mention directly behind a letter.
_NOT_BEHIND_A_MAILBOX: Final = r"(?<![\p{Latin}\p{Nd}_])"
_COUNTS: Final = regex.compile(r"\{[^{}]*\}")
_LEADING: Final = regex.compile(
    r"[\s\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A compiled trigger; made by `compile_trigger`."""

    pattern: regex.Pattern[str]
    position: TriggerPosition

    def matches(self, text: str) -> bool:
        """Whether `text` calls the assistant. An expression that runs out of time does not match."""
        if self.position is TriggerPosition.START:
            return self.rest(text) is not None
        try:
            return self.pattern.search(_comparable(text), timeout=MATCH_TIME_S) is not None
        except TimeoutError:
            return False

    def rest(self, text: str) -> str | None:
        """What follows the trigger at the start of `text`; None if it does not start with it."""
        comparable = _comparable(text)
        try:
            match = self.pattern.match(comparable, timeout=MATCH_TIME_S)
        except TimeoutError:
            return None
        return comparable[match.end() :] if match else None


def default_trigger(assistant_name: str) -> str:
    """The trigger of a group that was given none."""
    return f"@{assistant_name}"


def compile_trigger(trigger: str, *, assistant_name: str, position: TriggerPosition) -> Trigger:
    """The trigger, ready to match: a plain word with the boundary, anything else as an expression.

    The default trigger is a plain word whatever characters the name has.
    Raises InvalidRequest with the reason.
    """
    return _compile(trigger, position, _is_default(trigger, assistant_name))


def plain_word(trigger: str, *, assistant_name: str) -> str | None:
    """The word that the trigger is, composed and without space around it; None if it is an expression."""
    return _normal(trigger) if is_plain_word(trigger, assistant_name=assistant_name) else None


def is_plain_word(trigger: str, *, assistant_name: str) -> bool:
    """Whether people can be told to write it as it stands; else it is an expression."""
    return _is_plain(trigger, is_the_default=_is_default(trigger, assistant_name))


def wakes(group: Group, text: str, *, quoted: Quoted | None) -> bool:
    """Whether a message in `group` is for the assistant; whoever its sender is.

    Raises InvalidRequest if the group's trigger does not compile, which registration rules out.
    """
    if group.is_main or not group.requires_trigger:
        return True
    if quoted is not None and quoted.is_ours and group.reply_triggers:
        return True
    trigger = compile_trigger(
        group.trigger, assistant_name=group.assistant_name, position=group.trigger_position
    )
    return trigger.matches(text)


def without_leading_blanks(text: str) -> str:
    """`text` from its first character that can be seen: white space and zero-width signs are skipped."""
    match = _LEADING.match(text)
    return text[match.end() :] if match else text


def _is_default(trigger: str, assistant_name: str) -> bool:
    return trigger.strip() == default_trigger(assistant_name).strip()


def _is_plain(word: str, *, is_the_default: bool) -> bool:
    return is_the_default or _SYNTAX.isdisjoint(word)


def _normal(trigger: str) -> str:
    return unicodedata.normalize("NFC", trigger.strip())


def _comparable(text: str) -> str:
    return unicodedata.normalize("NFC", without_leading_blanks(text))


# As many groups as a large installation has; beyond it a pattern is compiled again.
@lru_cache(maxsize=16_384)
def _compile(trigger: str, position: TriggerPosition, is_the_default: bool) -> Trigger:
    word = _normal(trigger)
    if not without_leading_blanks(word.removeprefix("@")):
        raise InvalidRequest("The trigger is empty.", suggestion="Give a word such as @Andy.")
    if len(word) > MAX_TRIGGER_CHARS:
        raise InvalidRequest(
            f"The trigger has {len(word)} characters; it may have {MAX_TRIGGER_CHARS}.",
            suggestion="Give a word such as @Andy, or a shorter expression.",
        )
    if any(unicodedata.category(sign) == "Cc" for sign in word):
        raise InvalidRequest(
            "The trigger holds a line break or another control character.",
            suggestion="Give a word such as @Andy.",
        )
    if _is_plain(word, is_the_default=is_the_default):
        return Trigger(pattern=regex.compile(_plain_pattern(word, position), _FLAGS), position=position)
    return Trigger(pattern=_compile_expression(word), position=position)


def _plain_pattern(word: str, position: TriggerPosition) -> str:
    pattern = regex.escape(word, literal_spaces=True) + _NOT_IN_A_WORD
    if position is TriggerPosition.START:
        return pattern
    begins_as_word = regex.match(r"[\p{L}\p{M}\p{Nd}_]", word) is not None
    return (_NOT_BEHIND_A_WORD if begins_as_word else _NOT_BEHIND_A_MAILBOX) + pattern


def _compile_expression(word: str) -> regex.Pattern[str]:
    if _most_repeats(word) > MAX_REPEATS:
        raise InvalidRequest(
            f"The trigger {word!r} repeats a part more than {MAX_REPEATS} times.",
            suggestion="Give a simpler expression.",
        )
    try:
        pattern = regex.compile(word, _FLAGS)
        matches_nothing_at_all = pattern.match("", timeout=MATCH_TIME_S) is not None
    except regex.error as error:
        raise InvalidRequest(
            f"The trigger {word!r} is not a regular expression: {error}.",
            suggestion="Give a word such as @Andy, or put a backslash before signs meant as they are.",
        ) from None
    except (RecursionError, OverflowError, MemoryError, TimeoutError):
        raise InvalidRequest(
            f"The trigger {word!r} is too complex.", suggestion="Give a simpler expression."
        ) from None
    if matches_nothing_at_all:
        raise InvalidRequest(
            f"The trigger {word!r} matches an empty text, so it would match every message.",
            suggestion="To wake the assistant with every message, let the group require no trigger.",
        )
    return pattern


def _most_repeats(word: str) -> int:
    """How often the innermost part of nested counts such as `(a{9}){9}` can stand in the pattern.

    The compiler writes repeats out: without a bound a short expression takes all memory there is.
    """
    counts = [
        int(digits) for count in _COUNTS.findall(word) for digits in regex.findall(r"[0-9]{1,9}", count)
    ]
    return prod(max(count, 1) for count in counts)
