"""What a plain sentence wants of the built-in driver: words in, a wish out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from container.drivers.reminder_words import REMIND, begins_with_time


class WishKind(StrEnum):
    """The things the built-in driver can do."""

    HELP = "help"
    TIME = "time"
    DATE = "date"
    ECHO = "echo"
    REMEMBER = "remember"
    RECALL = "recall"
    FORGET = "forget"
    FORGET_ALL = "forget_all"
    FILES = "files"
    SEND_FILE = "send_file"
    REMIND = "remind"
    LIST_REMINDERS = "list_reminders"
    PAUSE_REMINDER = "pause_reminder"
    RESUME_REMINDER = "resume_reminder"
    CANCEL_REMINDER = "cancel_reminder"
    CHANGE_REMINDER = "change_reminder"
    SPAWN = "spawn"
    ASK_HELPER = "ask_helper"
    SHOW_TREE = "show_tree"
    SHOW_HELPER = "show_helper"
    STOP_HELPER = "stop_helper"
    STOP_HELPERS = "stop_helpers"
    COUNT = "count"
    HELLO = "hello"
    THANKS = "thanks"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One thing asked for, and with what."""

    kind: WishKind
    argument: str = ""


def _sentence(pattern: str) -> re.Pattern[str]:
    """A pattern for a whole sentence without its end marks; a space stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


_IS: Final = r"(?:['’]?s| is)"
_ABOUT: Final = r"(?: (?:about|of|on))?"
_ALL_MY: Final = r"(?: me)?(?: all)?(?: (?:my|your|our|the))?"
_ARTICLE: Final = r"(?: (?:the|my|our))?"
_NOTES: Final = r"(?:memory|memories|notes?)"
_WHICH_REMINDER: Final = (
    r"(?: (?:the|my|our))? reminders?(?: (?:about|that|to|for|of|no\.?|number))?(?: (?P<what>.+))?"
)
_A_HELPER: Final = r"(?: (?:a|an|the|my|our|your|another))? helpers?"
_HELPERS_TASK: Final = r"(?:[\s:,]+(?:to|for|about|that|with)\b)?(?:[\s:,]+(?P<what>.+))?"
_THAT: Final = r"(?: (?:that|to|this|about))?[\s:,]+"

# First fit wins; a group named `what` is the wish's argument. No sentence is searched, each is matched
# from its first to its last character, and no two repetitions meet: time stays linear in its length.
_SENTENCES: Final[tuple[tuple[re.Pattern[str], WishKind], ...]] = tuple(
    (_sentence(pattern), kind)
    for pattern, kind in (
        (
            rf"(?:(?:list|show|what are|which){_ALL_MY} )?(?:reminders|tasks)"
            r"(?: do (?:we|i|you) have| are (?:there|set))?",
            WishKind.LIST_REMINDERS,
        ),
        (r"what (?:reminders|tasks) (?:do (?:we|i|you) have|are (?:there|set))", WishKind.LIST_REMINDERS),
        (rf"(?:pause|hold){_WHICH_REMINDER}", WishKind.PAUSE_REMINDER),
        (rf"(?:resume|continue|unpause){_WHICH_REMINDER}", WishKind.RESUME_REMINDER),
        (rf"(?:cancel|delete|remove|stop|end|forget){_WHICH_REMINDER}", WishKind.CANCEL_REMINDER),
        (rf"(?:change|move|edit|update){_WHICH_REMINDER}", WishKind.CHANGE_REMINDER),
        (rf"(?:spawn|start|launch){_A_HELPER}{_HELPERS_TASK}", WishKind.SPAWN),
        (r"spawn(?: (?P<what>.+))?", WishKind.SPAWN),
        (rf"ask{_A_HELPER}{_HELPERS_TASK}", WishKind.ASK_HELPER),
        (rf"(?:(?:list|show|what are|which){_ALL_MY} )?(?:tree|helpers)", WishKind.SHOW_TREE),
        (
            r"(?:stop|end|kill|terminate|cancel) (?:all|every)(?: of)?(?: (?:the|my|our|your))? helpers?",
            WishKind.STOP_HELPERS,
        ),
        (
            rf"(?:stop|end|kill|terminate|cancel){_A_HELPER}(?: (?:no\.?|number))?(?: (?P<what>.+))?",
            WishKind.STOP_HELPER,
        ),
        (
            rf"(?:show|read)(?: me)?{_A_HELPER}(?: (?:no\.?|number))?(?: (?P<what>.+))?",
            WishKind.SHOW_HELPER,
        ),
        (rf"what (?:did|does){_A_HELPER} (?P<what>.+) say", WishKind.SHOW_HELPER),
        (r"count(?: up)? to (?P<what>[0-9]{1,9})", WishKind.COUNT),
        (rf"(?P<what>{REMIND}\b.*)", WishKind.REMIND),
        (r"remind(?: me)?|reminder", WishKind.REMIND),
        (r"help(?: me)?|commands|what (?:can|do) you do|how do(?:es)? (?:you|this|it) work", WishKind.HELP),
        (
            rf"(?:what{_IS} |tell me |show |give )?(?:me )?(?:the )?(?:current )?time(?: is it)?(?: now)?",
            WishKind.TIME,
        ),
        (r"(?:tell me |do you know |you know )?what time (?:is it|it is)(?: now)?|clock", WishKind.TIME),
        (rf"(?:what{_IS} |tell me )?(?:the |today['’]?s )?(?:date|day)(?: is it)?(?: today)?", WishKind.DATE),
        (rf"today|(?:what|which) (?:day|date) is(?: it)?(?: today)?|what{_IS} today", WishKind.DATE),
        (
            rf"(?:(?:do|can) )?you (?:still )?(?:remember|recall){_ABOUT}{_ARTICLE} (?P<what>.+)",
            WishKind.RECALL,
        ),
        (
            rf"what(?: all)? (?:do you (?:still )?(?:remember|know|recall)|did (?:i|we) (?:tell|ask) you"
            rf"(?: to remember)?)(?:{_ABOUT}{_ARTICLE} (?P<what>.+))?",
            WishKind.RECALL,
        ),
        (
            rf"(?:recall|(?:show|list|read){_ALL_MY} {_NOTES})(?:{_ABOUT}{_ARTICLE} (?P<what>.+))?",
            WishKind.RECALL,
        ),
        (_NOTES, WishKind.RECALL),
        (r"forget (?:everything|all|all of it|it all)", WishKind.FORGET_ALL),
        (
            rf"(?:don['’]?t forget|remember|memori[sz]e|note(?: down)?|keep in mind){_THAT}(?P<what>.+)",
            WishKind.REMEMBER,
        ),
        (r"remember|memori[sz]e|note", WishKind.REMEMBER),
        (rf"forget{_THAT}(?P<what>.+)", WishKind.FORGET),
        (r"forget", WishKind.FORGET),
        (
            r"(?:send|give|show|attach|upload)(?: (?:me|us))?(?: (?:the|my|our|your))? files? "
            r"(?P<what>.+?)(?:,? please)?",
            WishKind.SEND_FILE,
        ),
        (r"(?:send|attach|upload)(?: (?:me|us))?(?: (?:a|the|my|our))? file", WishKind.SEND_FILE),
        (rf"files|ls|dir|(?:list|show){_ALL_MY} files", WishKind.FILES),
        (r"(?:what|which) files(?: do (?:you|we|i) have| are (?:there|here))?", WishKind.FILES),
        (
            r"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: (?:there|all|everyone))?",
            WishKind.HELLO,
        ),
        (r"(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:so|very) much| a lot)?", WishKind.THANKS),
    )
)
# The rest is the answer, to the last sign.
_ECHO: Final = re.compile(r"(?:echo|repeat|say)\b[ \t]?:?[ \t]?(?P<what>.*)", re.IGNORECASE | re.DOTALL)
_POLITE_START: Final = re.compile(
    r"(?:(?:please|hey|hi|hello|ok|okay|so|(?:can|could|would|will)\s+you)\b[\s,]*)+", re.IGNORECASE
)
_POLITE_END: Final = "please"
_END_MARKS: Final = " \t\r\n.!?,"
_INVISIBLE: Final = "\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u2068\u2069"


def understand_first(readings: Sequence[str]) -> Wish:
    """What the first reading that makes sense wants; unknown if none does. readings: at least one."""
    wishes = [understand(reading) for reading in readings]
    return next((wish for wish in wishes if wish.kind is not WishKind.UNKNOWN), wishes[0])


def understand(text: str) -> Wish:
    """What `text`, without the name it was addressed to, wants."""
    text = text.strip().strip(_INVISIBLE).strip()
    if not text:
        return Wish(kind=WishKind.HELLO)
    if text.strip("? ") == "":
        return Wish(kind=WishKind.HELP)
    if (echo := _ECHO.fullmatch(text)) is not None:
        return Wish(kind=WishKind.ECHO, argument=echo["what"].strip("\r\n"))
    sentence = text.rstrip(_END_MARKS)
    wish = _find(sentence) or _find(_without_please(sentence))
    if wish is None and (polite := _POLITE_START.match(sentence)) is not None:
        wish = _find(_without_please(sentence[polite.end() :]))
    if wish is None and begins_with_time(sentence):
        wish = Wish(kind=WishKind.REMIND, argument=sentence)
    return wish or Wish(kind=WishKind.UNKNOWN, argument=text)


def tells_only(wish: Wish, text: str) -> bool:
    """Whether a reminder with this text means the answer: a command that tells something, changes nothing.

    `say hello to Ada` is something to be reminded of; `echo …` is for us alone.
    """
    if wish.kind is WishKind.ECHO:
        return text.strip().casefold().startswith("echo")
    return wish.kind in (
        WishKind.TIME,
        WishKind.DATE,
        WishKind.RECALL,
        WishKind.FILES,
        WishKind.LIST_REMINDERS,
    )


def _without_please(sentence: str) -> str:
    if sentence[-len(_POLITE_END) :].casefold() != _POLITE_END:
        return sentence
    return sentence[: -len(_POLITE_END)].rstrip(_END_MARKS)


def _find(text: str) -> Wish | None:
    for pattern, kind in _SENTENCES:
        found = pattern.fullmatch(text)
        if found is not None:
            return Wish(kind=kind, argument=(found.groupdict().get("what") or "").strip())
    return None
