"""What a program may do unasked, what it may not, and for what people are asked. Source: agents.md section 4.

The container is what keeps a program in its place; this is the policy on top of it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from container.drivers.leave import APPROVE_ALL, DENY_ALL, OWN_SERVER


class Verdict(StrEnum):
    """What becomes of a wish."""

    ALLOW = "allow"
    REFUSE = "refuse"
    ASK = "ask"


class Wish(StrEnum):
    """What a program asks us to do for it."""

    READ_FILE = "read_file"
    WRITE_FILE = "write_file"
    RUN_COMMAND = "run_command"


class Offer(Protocol):
    """One of the answers that a permission request offers."""

    @property
    def kind(self) -> str:
        """`allow_once`, `allow_always`, `reject_once` or `reject_always`."""

    @property
    def option_id(self) -> str:
        """What the program calls it."""


_READ: Final = "read"
# A command or a change is never a tool of ours, whatever its title says.
_KINDS_OF_OTHER_TOOLS: Final = frozenset({None, "other"})
_OWN_TOOL: Final = re.compile(
    rf"(?:mcp__|mcp_)?{OWN_SERVER}(?:__|_|[./: ])\w+|\w+ \({OWN_SERVER} MCP Server\)"
)
_MAX_SHOWN_CHARS: Final = 500
_QUESTIONS: Final[Mapping[str | None, str]] = {
    "execute": "May I run this command?",
    "edit": "May I change this file?",
    "delete": "May I delete this?",
    "move": "May I move this?",
    "fetch": "May I fetch this?",
    "read": "May I read this?",
    "search": "May I search for this?",
}
_ANY_QUESTION: Final = "May I use this tool?"
_TELLING: Final = ("command", "file_path", "path", "url")


def judge_tool(permissions: str, *, kind: str | None, title: str, is_inside: bool) -> Verdict:
    """About a tool that the program wants to use. is_inside: all it names lies where the agent may work."""
    if not is_inside:
        return Verdict.REFUSE
    if is_own_tool(title, kind):
        return Verdict.ALLOW
    if permissions == APPROVE_ALL:
        return Verdict.ALLOW
    if permissions == DENY_ALL:
        return Verdict.REFUSE
    return Verdict.ALLOW if kind == _READ else Verdict.ASK


def judge_wish(permissions: str, wish: Wish) -> Verdict:
    """About something that we are to do for the program, within the workspace."""
    if permissions == APPROVE_ALL:
        return Verdict.ALLOW
    if permissions == DENY_ALL:
        return Verdict.REFUSE
    return Verdict.ALLOW if wish is Wish.READ_FILE else Verdict.ASK


def is_own_tool(title: str, kind: str | None) -> bool:
    """Whether a tool is one of Dovecote's own server; the host judges each of its requests itself."""
    return kind in _KINDS_OF_OTHER_TOOLS and _OWN_TOOL.fullmatch(title) is not None


def option_for(offers: Sequence[Offer], *, is_allowed: bool) -> str | None:
    """The offer that says yes or no for this once; None if there is none. Never one that says it for good."""
    wanted = "allow_once" if is_allowed else "reject_once"
    return next((offer.option_id for offer in offers if offer.kind == wanted), None)


def tool_question(*, kind: str | None, title: str, given: object) -> str:
    """The question to people: what the tool would do, cut to what can be read at a glance."""
    details = [title] if title else []
    if isinstance(given, Mapping):
        told = [given[name] for name in _TELLING if isinstance(given.get(name), str)]
        details += [text for text in told if text not in title]
        if not told and kind in _KINDS_OF_OTHER_TOOLS and given:
            details.append(json.dumps(given, ensure_ascii=False, default=str))
    return _question(_QUESTIONS.get(kind, _ANY_QUESTION), "\n".join(details))


def write_question(path: str) -> str:
    """The question whether a file may be written."""
    return _question(_QUESTIONS["edit"], path)


def command_question(words: Sequence[str]) -> str:
    """The question whether a command may be run."""
    return _question(_QUESTIONS["execute"], " ".join(words))


def _question(asks: str, details: str) -> str:
    shown = details if len(details) <= _MAX_SHOWN_CHARS else f"{details[:_MAX_SHOWN_CHARS]} […]"
    return f"{asks}\n{shown}" if shown else asks
