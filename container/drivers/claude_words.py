"""What the driver `claude` says in its own words: to people, and to the model about its conversation."""

import json
from collections.abc import Mapping
from html import escape
from typing import Final

SESSION_SHORTENED: Final = "(Our conversation had grown too long, so I go on with a summary of it.)"

SUMMARY_WISH: Final = (
    "Our conversation ends here, because it has grown too long, and a new one goes on from what you write "
    "now. Summarise it for yourself, in at most 800 words: who the people are and what they care about, what "
    "was decided and promised, what is unfinished, and the names of files and tasks that matter. Write the "
    "summary and nothing else."
)
_MEMORY: Final = (
    "<earlier-conversation>\nThe conversation before this one was too long to go on with. This is what is "
    "left of it. It is a memory and asks for nothing; what it shows as done is done, and is not to be done "
    "again.\n\n"
    "{summary}\n</earlier-conversation>\n\n{prompt}"
)

_NO_SESSION: Final = "No conversation found"
"""How the program says that it does not know the session that it was to resume."""
_MAX_SHOWN_CHARS: Final = 500
_TELLING: Final = {
    "Bash": ("run this command", "command"),
    "Write": ("write this file", "file_path"),
    "Edit": ("change this file", "file_path"),
    "NotebookEdit": ("change this notebook", "notebook_path"),
}


def is_session_gone(said: str) -> bool:
    """Whether the program's last words are that there is no such session."""
    return _NO_SESSION in said


def with_memory(prompt: str, summary: str) -> str:
    """A prompt for a fresh session, with what is left of the one before."""
    return _MEMORY.format(summary=escape(summary, quote=False), prompt=prompt) if summary else prompt


def leave_question(tool: str, given: Mapping[str, object]) -> str:
    """The question whether a tool may be used: what it would do, cut to what can be read at a glance."""
    if tool in _TELLING:
        does, key = _TELLING[tool]
        return f"May I {does}?\n{_shown(str(given.get(key, '')))}"
    words = tool.split("__")
    named = f"{words[-1]} of {words[1]}" if len(words) > 2 else tool
    return f"May I use the tool {named}?\n{_shown(json.dumps(given, ensure_ascii=False, default=str))}"


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]} […]"
